"""Drive raters over the units they have not rated yet: the only place where raters meet the store."""
