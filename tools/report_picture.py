#!/usr/bin/env python3
"""The top of a report as one picture for a README: title, answer, first rows of the table and the picture of speed, and
below them what was measured where, when and by which command. Nothing is drawn here that the page does not say."""
import argparse
import html
import re
import sys

WIDTH, EDGE, LINE, GAP = 1068, 24, 22, 22  # of the page's wide picture; around it; between lines, and columns, of text
LEFT_OUT = ("Interval", "Cores used", "Latency, 99 %", "Peak memory")  # columns, one after the other, while there is no room
WIDE, NARROW = frozenset("mwMW%@"), frozenset("ijl.,;:'|!()[]tfrI ")


class NoReport(Exception):
    pass


def text_of(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def found(pattern, page, what):
    match = re.search(pattern, page, re.S)
    if not match:
        raise NoReport("the page has no %s: is it a report of trials that did the work?" % what)
    return match.group(1)


def width_of(text, size):
    """About, of a sans serif, and rather too wide than too narrow."""
    return size * 1.05 * sum(.87 if letter in WIDE else .34 if letter in NARROW else .7 if letter.isupper() else .58 for letter in text)


def wrapped(text, size):
    lines = [""]
    for word in text.split():
        longer = (lines[-1] + " " + word).strip()
        if lines[-1] and width_of(longer, size) > WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


class Sheet:
    def __init__(self):
        self.parts, self.y = [], float(EDGE)

    def put(self, text, size=15, x=0.0, css="", bold=False, right=False):
        self.parts.append('<text x="%.1f" y="%.1f" font-size="%d"%s%s%s>%s</text>' % (
            EDGE + x, self.y, size, ' class="%s"' % css if css else "", ' font-weight="600"' if bold else "",
            ' text-anchor="end"' if right else "", html.escape(text)))

    def paragraph(self, text, size=15, css="", bold=False):
        for line in wrapped(text, size):
            self.y += size * 1.4
            self.put(line, size, css=css, bold=bold)

    def table(self, markup, most):
        rows = [[(css.split(), text_of(cell)) for css, cell in re.findall(r'<t[hd](?: class="([^"]*)")?[^>]*>(.*?)</t[hd]>', row, re.S)]
                for row in re.findall(r"<tr>(.*?)</tr>", markup, re.S)]
        heads = [text for _, text in rows[0]]
        rows = [row for row in rows if len(row) == len(heads)][:most + 1]
        widths = [GAP + max(width_of(row[at][1], 14 if row is not rows[0] else 15.5) for row in rows) for at in range(len(heads))]
        for head in LEFT_OUT:
            if sum(widths) - GAP > WIDTH and head in heads:
                widths[heads.index(head)] = 0
        for row in rows:
            self.y += LINE + 3
            x = 0.0
            for at, (css, text) in enumerate(row):
                if not widths[at]:
                    continue
                colour = "soft" if row is rows[0] else "".join(word for word in css if word in ("good", "bad"))
                at_right = "n" in css
                self.put(text, 14, x + widths[at] - GAP if at_right else x, colour, bool(colour), at_right)
                x += widths[at]
            self.parts.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" class="grid"/>' % (EDGE, self.y + 7, EDGE + WIDTH, self.y + 7))

    def picture(self, markup):
        height = float(re.search(r'viewBox="0 0 %d ([\d.]+)"' % WIDTH, markup).group(1))
        self.parts.append(re.sub(r"<svg [^>]*>", '<svg x="%d" y="%.1f" width="%d" height="%g">' % (EDGE, self.y + 8, WIDTH, height), markup, count=1))
        self.y += height + 8


def style_of(page, body):
    """Colours, light and dark, and the rules of the classes that the picture has."""
    style = found(r"<style>(.*?)</style>", page, "style")
    used = set(" ".join(re.findall(r'class="([^"]*)"', body)).split())
    light, dark = re.findall(r":root\{[^}]*--c0[^}]*\}", style)
    rules = [rule for rule, css in re.findall(r"^((?:svg text|)(?:\.([\w-]+)|)\{[^}]*\})", style, re.M) if not css or css in used]
    return "\n".join([light, "@media(prefers-color-scheme:dark){", dark, "}", 'svg{font:13px system-ui,"Liberation Sans",sans-serif}',
                      *rules, "svg text.good{fill:var(--good)}"])


def drawn(page, rows):
    sheet = Sheet()
    sheet.paragraph(text_of(found(r"<h1>(.*?)</h1>", page, "title")), 24, bold=True)
    sheet.y += 4
    sheet.paragraph(text_of(found(r'<p class="answer">(.*?)</p>', page, "answer")), 17)
    sheet.y += 6
    sheet.table(found(r"<table[^>]*>(.*?)</table>", page, "table"), rows)
    sheet.y += LINE
    sheet.picture(found(r'(<svg class="wide" viewBox="0 0 %d .*?</svg>)' % WIDTH, page, "picture of speed"))
    for line in ("%s; instructions: %s; begun %s" % (re.sub(r"(Linux \d+\.\d+)\S*\b", r"\1", text_of(found(r"<p>Host: (.*?)</p>", page, "host"))),
                                                     text_of(found(r"instructions: ([^<;]*)", page, "level of instructions")),
                                                     found(r"begun (\d{4}-\d\d-\d\d)", page, "date")),
                 text_of(found(r'id="repeat">.*?<pre>(.*?)</pre>', page, "command"))):
        sheet.paragraph(line, 13, css="soft")
    body = "\n".join(sheet.parts)
    size = 'viewBox="0 0 %d %.0f" width="%d" height="%.0f"' % ((WIDTH + 2 * EDGE, sheet.y + EDGE) * 2)
    return ('<svg xmlns="http://www.w3.org/2000/svg" %s>\n<style>\n%s\n</style>\n'
            '<rect width="100%%" height="100%%" style="fill:var(--paper)"/>\n%s\n</svg>\n' % (size, style_of(page, body), body))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", help="a study's report.html")
    parser.add_argument("picture", help="the SVG to write")
    parser.add_argument("--rows", type=int, default=6, help="of the table, at most [6]")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as file:
        page = file.read()
    try:
        svg = drawn(page, options.rows)
    except NoReport as fault:
        sys.exit("%s: %s" % (options.report, fault))
    with open(options.picture, "w", encoding="utf-8") as file:
        file.write(svg)


if __name__ == "__main__":
    main()
