"""Reads a formula's text with a tokenizer and a shunting-yard parser, both without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn, Protocol

from persona_evo.errors import FormulaError, Place, unknown
from persona_evo.formula import primitive
from persona_evo.formula import primitives as p
from persona_evo.limits import shown

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n\f\v]+|\#[^\n]*)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\*\*|>=|<=|==|!=|[-+*/^(),<>])"
)


_AND = "and is written min(a > 1, b > 2) or (a > 1) * (b > 2)"
_OR = "or is written max(a > 1, b > 2)"
_NOT = "not is written 1 - (a > 1), or with the opposite comparison, as in a <= 1"
_LOGIC = {
    "and": _AND,
    "or": _OR,
    "not": _NOT,
    "&": _AND,
    "&&": _AND,
    "|": _OR,
    "||": _OR,
    "!": _NOT,
    "\u2227": _AND,
    "\u2228": _OR,
}
"""Logical operators of other languages -> how to write them here."""
_ALIKE = {"\u2265": ">=", "\u2264": "<=", "\u00d7": "*", "\u00b7": "*", "\u2212": "-", "\u00f7": "/", ":": "/"}
"""Characters that users write -> what they stand for here."""


class Lexeme(NamedTuple):
    """A piece of text. Its kind is number, name, sign or end."""

    kind: str
    text: str
    place: Place


class Pending(NamedTuple):
    """An entry of the parser's stack: an operation, an open bracket "(" or a call "name("."""

    name: str
    precedence: int
    place: Place
    operands: int = 0


class Macro(Protocol):
    """A function whose call is replaced by a formula over its operands."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the operands."""

    def expand(self, operands: Sequence[Sequence[str | float]]) -> tuple[str | float, ...]:
        """Return the tokens of the formula with these operands, all in postfix order."""


Macros = Callable[[], Mapping[str, Macro]]
"""Returns the functions that are not built in. It is called when a text uses one."""


def read(text: str, symbols: tuple[str, ...] | None, start: Place, macros: Macros = dict) -> tuple[str | float, ...]:
    """Return the tokens of a formula in postfix order.

    Args:
        text: the formula.
        symbols: the names it may use; None allows any.
        start: the position where the text starts, for errors.
        macros: returns the functions that are not built in.

    Raises:
        FormulaError: the text is not a formula (with the line and column of the error).
    """
    if not isinstance(text, str):
        raise FormulaError("a formula is a text", found=shown(text), expected="a text such as 0.7 * MS + 0.3 * PE")
    lexemes = list(_lexemes(text, start))
    if lexemes[0].kind == "end":
        raise FormulaError("the formula is empty", place=start, expected="an expression such as 0.7 * MS + 0.3 * PE")
    return _Parser(lexemes, symbols, macros).run()


def _lexemes(text: str, start: Place) -> Iterator[Lexeme]:
    line, line_start, position = start.line or 1, 1 - (start.column or 1), 0
    while position < len(text):
        place = Place(start.source, line, position - line_start + 1)
        match = _TOKEN.match(text, position)
        if match is None:
            found = text[position]
            if text[position + 1 : position + 2] == found and found * 2 in _LOGIC:
                found *= 2
            alike = f"write {_ALIKE[found]}" if found in _ALIKE else None
            raise FormulaError(
                "formulas cannot contain this character",
                place=place,
                found=repr(found),
                expected="numbers, symbols, + - * / ^ ( ) , > >= < <=",
                hint=_LOGIC.get(found, alike),
            )
        if match.lastgroup == "space":
            if breaks := match.group().count("\n"):
                line += breaks
                line_start = match.start() + match.group().rindex("\n") + 1
        else:
            yield Lexeme(str(match.lastgroup), match.group(), place)
        position = match.end()
    yield Lexeme("end", "", Place(start.source, line, position - line_start + 1))


class _Parser:
    """A shunting-yard parser.

    `output` grows in postfix order; `begins` holds where each waiting operand begins in it.
    """

    def __init__(self, lexemes: list[Lexeme], symbols: tuple[str, ...] | None, macros: Macros) -> None:
        self.lexemes = lexemes
        self.at = 0
        self.symbols = symbols
        self.macros = macros
        self.known = None if symbols is None else frozenset(symbols)
        self.output: list[str | float] = []
        self.begins: list[int] = []
        self.pending: list[Pending] = []

    def run(self) -> tuple[str | float, ...]:
        wants_operand = True
        while self.lexemes[self.at].kind != "end":
            wants_operand = self.operand() if wants_operand else self.operator()
            self.at += 1
        if wants_operand:
            self.missing_operand()
        while self.pending:
            top = self.pending.pop()
            if top.name.endswith("("):
                raise FormulaError("a bracket is not closed", place=top.place, found=top.name, hint="add a )")
            self.apply(top)
        return tuple(self.output)

    def operand(self) -> bool:
        """Read what may stand where a value is expected. Return True if a value is still expected."""
        lexeme = self.lexemes[self.at]
        if lexeme.kind == "number":
            self.number(lexeme)
        elif lexeme.kind == "name":
            if self.lexemes[self.at + 1].text == "(":
                self.call(lexeme)
                return True
            self.symbol(lexeme)
        elif lexeme.text == "(":
            self.pending.append(Pending("(", 0, lexeme.place))
            return True
        elif lexeme.text == "-":
            self.pending.append(Pending("neg", primitive.SIGN, lexeme.place))
            return True
        elif lexeme.text == "+":
            return True
        elif lexeme.text == ")" and self.lexemes[self.at - 1].text == "(" and self.pending[-1].name != "(":
            self.close(lexeme, empty=True)
        else:
            self.missing_operand()
        return False

    def operator(self) -> bool:
        """Read what may stand after a value. Return True if a value is expected next."""
        lexeme = self.lexemes[self.at]
        if lexeme.text in ("^", "**"):
            self.power(lexeme)
            return False
        if lexeme.text == ")":
            self.close(lexeme)
            return False
        if lexeme.text == ",":
            self.comma(lexeme)
        elif lexeme.text in ("==", "!="):
            raise FormulaError(
                "formulas do not have this comparison",
                place=lexeme.place,
                found=lexeme.text,
                expected="> >= < <=",
                hint="equal is written (a >= b) * (a <= b)",
            )
        elif lexeme.kind == "sign" and lexeme.text in p.PRIMITIVES:
            self.infix(lexeme)
        elif (word := lexeme.text.lower()) in _LOGIC:
            raise FormulaError(
                f"formulas do not have {word}",
                place=lexeme.place,
                found=lexeme.text,
                expected="an operator",
                hint=_LOGIC[word],
            )
        else:
            raise FormulaError(
                "two values follow each other",
                place=lexeme.place,
                found=lexeme.text,
                expected="an operator between them",
                hint="write products with *, as in 2 * ST",
            )
        return True

    def push(self, token: str | float, place: Place) -> None:
        self.begins.append(len(self.output))
        self.output.append(token)
        self.check_size(len(self.output), place)

    def apply(self, pending: Pending) -> None:
        del self.begins[len(self.begins) - p.PRIMITIVES[pending.name].arity + 1 :]
        self.output.append(pending.name)
        self.check_size(len(self.output), pending.place)

    def check_size(self, size: int, place: Place) -> None:
        if size > p.MAX_NODES:
            raise FormulaError(
                "the formula is too large",
                place=place,
                found=f"more than {p.MAX_NODES} parts",
                expected=f"at most {p.MAX_NODES} operations, symbols and numbers",
                hint="split it, or simplify it",
            )

    def number(self, lexeme: Lexeme) -> None:
        value = float(lexeme.text)
        if value > p.LIMIT:
            raise FormulaError(
                "a number is out of range", place=lexeme.place, found=lexeme.text, expected=f"within ±{p.LIMIT:g}"
            )
        signed = self.at > 0 and self.pending and self.pending[-1].place == self.lexemes[self.at - 1].place
        if signed and self.pending[-1].name == "neg" and self.lexemes[self.at + 1].text not in ("^", "**"):
            self.pending.pop()
            value = 0.0 - value
        self.push(value, lexeme.place)

    def symbol(self, lexeme: Lexeme) -> None:
        name = lexeme.text
        if name in p.FUNCTIONS:
            raise FormulaError("a function lacks its brackets", place=lexeme.place, found=name, expected=_usage(name))
        if self.known is not None and name not in self.known:
            expected, hint = unknown(name, self.symbols or ())
            hint = _LOGIC.get(name.lower(), hint)
            raise FormulaError("unknown symbol", place=lexeme.place, found=name, expected=expected, hint=hint)
        self.push(name, lexeme.place)

    def call(self, lexeme: Lexeme) -> None:
        if lexeme.text not in p.FUNCTIONS and lexeme.text not in self.macros():
            expected, hint = unknown(lexeme.text, [*p.FUNCTIONS, *self.macros()])
            hint = _LOGIC.get(lexeme.text.lower(), hint)
            if self.known is not None and lexeme.text in self.known:
                hint = f"{lexeme.text} is a symbol; a product needs its *, as in {lexeme.text} * (...)"
            raise FormulaError("unknown function", place=lexeme.place, found=lexeme.text, expected=expected, hint=hint)
        self.pending.append(Pending(lexeme.text + "(", 0, lexeme.place, 1))
        self.at += 1

    def infix(self, lexeme: Lexeme) -> None:
        precedence = p.PRIMITIVES[lexeme.text].precedence
        while self.pending and self.pending[-1].precedence >= precedence:
            top = self.pending.pop()
            if top.precedence == precedence == primitive.COMPARISON:
                raise FormulaError(
                    "comparisons cannot be chained",
                    place=lexeme.place,
                    found=lexeme.text,
                    hint="write (a > b) * (b > c) for both together",
                )
            self.apply(top)
        self.pending.append(Pending(lexeme.text, precedence, lexeme.place))

    def power(self, lexeme: Lexeme) -> None:
        self.at += 1
        exponent, after = self.lexemes[self.at], None if self.at + 1 >= len(self.lexemes) else self.lexemes[self.at + 1]
        if exponent.kind != "number" or not exponent.text.isdigit() or len(exponent.text) > 9:
            raise FormulaError(
                "the exponent is not a small whole number",
                place=exponent.place,
                found=exponent.text or "the end",
                expected="0, 1, 2, ... as digits",
                hint="sqrt(x) and exp(x) give the other powers",
            )
        if after is not None and after.text in ("^", "**"):
            raise FormulaError("a power of a power needs brackets", place=after.place, hint="write (x ^ 2) ^ 3")
        times, begin = int(exponent.text), self.begins[-1]
        base = self.output[begin:]
        self.check_size(begin + max(1, times * (len(base) + 1) - 1), lexeme.place)
        del self.output[begin:]
        self.output += base + [*base, "*"] * (times - 1) if times else [1.0]

    def comma(self, lexeme: Lexeme) -> None:
        call = self.unwind()
        if call is None or call.name == "(":
            raise FormulaError(
                "this comma is not inside a call",
                place=lexeme.place,
                found=",",
                hint="write numbers with a decimal point: 0.7; arguments go into min(a, b), max(a, b), if(c, a, b)",
            )
        self.pending.append(call._replace(operands=call.operands + 1))

    def close(self, lexeme: Lexeme, empty: bool = False) -> None:
        opened = self.unwind()
        if opened is None:
            raise FormulaError("a closing bracket has no matching opening bracket", place=lexeme.place, found=")")
        if opened.name == "(":
            return
        name, given = opened.name[:-1], 0 if empty else opened.operands
        macro = None if name in p.FUNCTIONS else self.macros()[name]
        if given != (p.FUNCTIONS[name].arity if macro is None else len(macro.parameters)):
            raise FormulaError(
                f"{name} has the wrong number of arguments",
                place=opened.place,
                found=str(given),
                expected=_usage(name) if macro is None else f"{name}({', '.join(macro.parameters)})",
            )
        if macro is None:
            self.apply(opened._replace(name=name))
        else:
            self.expand(macro, given, opened.place)

    def expand(self, macro: Macro, given: int, place: Place) -> None:
        """Replace the last operands by a macro's formula over them."""
        begins = self.begins[len(self.begins) - given :]
        ends = [*begins[1:], len(self.output)]
        tokens = macro.expand([self.output[begin:end] for begin, end in zip(begins, ends, strict=True)])
        self.check_size(begins[0] + len(tokens), place)
        self.output[begins[0] :] = tokens
        del self.begins[len(self.begins) - given + 1 :]

    def unwind(self) -> Pending | None:
        """Apply what waits since the last open bracket and pop that bracket; return None if there is none."""
        while self.pending:
            top = self.pending.pop()
            if top.name.endswith("("):
                return top
            self.apply(top)
        return None

    def missing_operand(self) -> NoReturn:
        lexeme = self.lexemes[self.at]
        raise FormulaError(
            "a value is missing",
            place=lexeme.place,
            found=lexeme.text or "the end of the formula",
            expected="a number, a symbol, a function or a bracket",
        )


def _usage(name: str) -> str:
    return f"{name}({', '.join('abc'[: p.FUNCTIONS[name].arity] if name != 'if' else ('condition', 'a', 'b'))})"
