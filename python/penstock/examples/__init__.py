"""Three laws of Penstock, written again in Python: the same bits in a run, the same margins in the analysis."""
