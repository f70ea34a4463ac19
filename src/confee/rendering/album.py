r"""All figures and tables of an experiment in one LaTeX file, for a paper or by itself.

pdflatex all.tex                     % in its folder: a document of its own
\newcommand{\confee}{figures/paper}  % in a paper: where the files lie, then
\input{\confee/all}                  % its body, which needs graphicx and booktabs
"""

from __future__ import annotations

from collections.abc import Mapping

from confee.rendering import TABLES, exhibit
from confee.rendering.files import origin
from confee.rendering.tables.write import latex

# \@nodocument is \relax within a document: then this is being read by a paper.
HEAD = r"""
\providecommand{\confee}{.}
\expandafter\ifx\csname @nodocument\endcsname\relax
  \let\confeebegin\relax
  \let\confeeend\relax
\else
  \documentclass{article}
  \usepackage[textwidth=5.5in,textheight=9in]{geometry}
  \usepackage{booktabs,graphicx}
  \pagestyle{plain}
  \def\confeebegin{\begin{document}}
  \def\confeeend{\end{document}}
\fi
\confeebegin
"""


def album(captions: Mapping[str, str], provenance: Mapping[str, str]) -> str:
    r"""Return the LaTeX text: figures as fig:<name>, tables as tab:<name>, in their order.

    The file of a table includes its caption. Every third float is followed by \clearpage, because
    LaTeX can hold back only a few floats.
    """
    parts = [f"% {origin(provenance)}", HEAD.strip()]
    for count, (name, caption) in enumerate(captions.items(), 1):
        parts.append(rf"\input{{\confee/{name}}}" if name in TABLES else _figure(name, caption))
        if count % 3 == 0:
            parts.append(r"\clearpage")
    return "\n\n".join([*parts, r"\confeeend"]) + "\n"


def _figure(name: str, caption: str) -> str:
    title = latex(exhibit(name).title)
    shown = " ".join(filter(None, [rf"\textbf{{{title}.}}", latex(caption)]))
    return "\n".join(
        [
            r"\begin{figure*}[tp]",
            r"\centering",
            rf"\includegraphics{{\confee/{name}.pdf}}",
            rf"\caption[{{{title}}}]{{{shown}}}",
            rf"\label{{fig:{name}}}",
            r"\end{figure*}",
        ]
    )
