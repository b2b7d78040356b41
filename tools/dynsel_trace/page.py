def page(*a): pass
