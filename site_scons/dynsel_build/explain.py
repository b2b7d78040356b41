# SPDX-License-Identifier: Apache-2.0
"""Configurations in words: unmet dependencies, why=SYMBOL, diffconfig."""

import kconfiglib as kl

from .errors import UserMistake, did_you_mean


def value_text(sym):
    """A symbol's value as written in a file."""
    if sym.orig_type == kl.STRING:
        return f'"{kl.escape(sym.str_value)}"'
    return sym.str_value or "without a value"


def prompt_condition(item):
    """The condition under which a symbol or choice can be set, over all places that define it."""
    condition = item.kconfig.n
    for node in item.nodes:
        if node.prompt:
            condition = node.prompt[1] if condition is item.kconfig.n else (
                kl.OR, condition, node.prompt[1])
    return condition


def unmet_terms(expr, where=None):
    """The parts of a condition that are n, as text, each with the values that cause it.

    where: symbol name -> ' (file:line)' of its assignment, to append to the symbol.
    """
    where = where or {}
    return [_term_text(term, where) for term in kl.split_expr(expr, kl.AND)
            if kl.expr_value(term) == 0]


def _term_text(term, where):
    if isinstance(term, kl.Choice):
        return f"{_name_of(term)} is not available: {', '.join(unmet_terms(prompt_condition(term)))}"
    if not isinstance(term, tuple):
        return f"{_name_of(term)} is {value_text(term)}{where.get(term.name, '')}"
    values = [f"{_name_of(i)} is {value_text(i)}{where.get(i.name, '')}"
              for i in sorted(kl.expr_items(term), key=_name_of)
              if isinstance(i, kl.Symbol) and not i.is_constant]
    return f"{kl.expr_str(term, _name_of)} is n ({', '.join(values)})"


def _name_of(item):
    if isinstance(item, kl.Choice):
        return item.name or "an unnamed choice"
    return f'"{item.name}"' if item.is_constant and item.name not in "nmy" else item.name


def active_range(sym):
    """(low, high) of an int or hex symbol in this configuration, or None."""
    for low, high, condition in sym.ranges:
        if kl.expr_value(condition):
            return low.str_value, high.str_value
    return None


def find_symbol(configuration, name):
    """The symbol with this name, with or without CONFIG_ and DYNSEL_, in any case."""
    symbols = configuration.symbols()
    bare = name.upper()
    if bare.startswith("CONFIG_"):
        bare = bare[len("CONFIG_"):]
    for candidate in (bare, "DYNSEL_" + bare):
        if candidate in symbols:
            return symbols[candidate]
    full = bare if bare.startswith("DYNSEL_") else "DYNSEL_" + bare
    inside = [n for n in symbols if bare in n]
    hint = f" (with {bare} in it: {', '.join(inside)})" if inside else did_you_mean(full, symbols)
    raise UserMistake(f"why: no option named {name}{hint}")


def why(configuration, name):
    """Everything that explains a symbol's value, as lines."""
    sym = find_symbol(configuration, name)
    lines = [f"{sym.name} = {value_text(sym)}   in {configuration.variant_name}"]
    lines += [f"  what      {n.prompt[0]}" for n in sym.nodes if n.prompt]
    lines.append(f"  type      {kl.TYPE_TO_STR[sym.orig_type]}{_range_text(sym)}")
    lines.append(f"  set by    {_origin(configuration, sym)}")
    lines += [f"  blocked   {term}" for term in _blockers(configuration, sym)]
    lines += [f"  {'selected' if kl.expr_value(by) else 'could be'}  by {_name_of(head)}"
              f" ({value_text(head)})" for by, head in _selectors(sym)]
    lines += [f"  choice    {m.name} = {m.str_value}" for m in (sym.choice.syms if sym.choice else ())]
    lines += [f"  depends   {kl.expr_str(sym.direct_dep, _name_of)}"
              ] if sym.direct_dep is not sym.kconfig.y else []
    lines += [f"  defined   {n.filename}:{n.linenr}" for n in sym.nodes]
    for node in sym.nodes:
        lines += ["  help"] + ["    " + l for l in node.help.splitlines()] if node.help else []
    return lines


def _range_text(sym):
    bounds = active_range(sym)
    return f", {bounds[0]} to {bounds[1]}" if bounds else ""


def _origin(configuration, sym):
    """The origin of the value: the last line that set it, else the menu's rules."""
    lines = [a for a in configuration.assignments if a.name == sym.name]
    texts = [f"{a.where} ({a})" for a in lines]
    if texts:
        return texts[-1] + "".join(f", overriding {t}" for t in reversed(texts[:-1]))
    if kl.expr_value(sym.rev_dep):
        return "select"
    if sym.choice:
        chosen = sym.choice.selection
        return "the choice " + _name_of(sym.choice) + (
            "" if chosen is sym else f", which is {_name_of(chosen) if chosen else 'not available'}")
    if any(kl.expr_value(condition) for _, condition in sym.defaults):
        return "the default"
    return "nothing" if sym.visibility else "nothing: it cannot be set here"


def _blockers(configuration, sym):
    """The unmet conditions for setting it; empty if it can be set."""
    if not any(node.prompt for node in sym.nodes):
        return ["it has no prompt: it follows from others and cannot be set"]
    return unmet_terms(prompt_condition(sym), configuration.locations())


def _selectors(sym):
    if sym.rev_dep is sym.kconfig.n:
        return
    for select in kl.split_expr(sym.rev_dep, kl.OR):
        yield select, kl.split_expr(select, kl.AND)[0]


def diff(a, b):
    """The differences between two configurations, one line a symbol, in the menu's order."""
    left, right = a.symbols(), b.symbols()
    rows = [(n, value_text(left[n]), value_text(right[n])) for n in left
            if n in right and left[n].str_value != right[n].str_value]
    if not rows:
        return [f"{a.variant_name} and {b.variant_name} have the same values"]
    width = max(len(n) for n, _, _ in rows)
    old = max(len(v) for _, v, _ in rows)
    return [f"{n:{width}}  {v:{old}} -> {w}" for n, v, w in rows]
