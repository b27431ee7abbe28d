"""What a run leaves behind: tables, plots, the appendix, citations."""
