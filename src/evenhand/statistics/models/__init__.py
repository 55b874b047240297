"""Models of raters: what lies behind their ratings, how severe or sure they are, whether a model may replace one."""
