#!/usr/bin/env python3
"""How hard the pages are to read: words per sentence, and the Flesch-Kincaid grade, of prose without tables, code and lists
of links. Status 1 where a page is above the bound and has no reason here.

    bench/readability.py [--all]

Flesch-Kincaid grade: 0.39 words per sentence + 11.8 syllables per word - 15.59 (Kincaid et al., 1975). Technical terms count
as they are spelled, so that grades of reference pages are high; words per sentence are what is held.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOUND = 12.0
# Pages that may be longer, and why.
PRINTED = "printed from the descriptions in the code, which name each condition"
REASONS = {
    "docs/laws.md": PRINTED,
    "docs/record.md": PRINTED,
    "docs/scenario.md": PRINTED,
    "CHANGELOG.md": "its sentences are lists of names",
}
# Commit dc8a6f5e6, when all pages were written again.
BEFORE = "24 pages, 20.6 words a sentence, grade 7.8"


def prose(text):
    """Paragraphs and list items, without what is not a sentence."""
    text = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.M | re.S)
    blocks, block = [], []
    for line in text.splitlines() + [""]:
        bare = line.strip()
        skipped = bare.startswith(("#", "|", "<", "!")) or line.startswith(("    ", "\t"))
        if not bare or skipped or re.match(r"([-*]|\d+\.) ", bare):
            blocks.append(" ".join(block))
            block = []
        if bare and not skipped:
            block.append(re.sub(r"^([-*]|\d+\.) ", "", bare))
    return [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", b) for b in blocks if b]


def sentences(text):
    for block in prose(text):
        block = re.sub(r"`[^`]*`", "code", block)
        block = re.sub(r"\b(e\.g|i\.e|vs|Fig|no|et al)\.", r"\1", block)
        for sentence in re.split(r"(?<=[.!?])\s+", block):
            words = re.findall(r"[A-Za-z][A-Za-z'-]*|\d[\d.,]*", sentence)
            if words and sentence.rstrip()[-1:] in ".!?:;":
                yield words


def syllables(word):
    word = re.sub(r"[^a-z]", "", word.lower())
    count = len(re.findall(r"[aeiouy]+", word)) - (word.endswith("e") and not word.endswith("le"))
    return max(1, count)


def measure(path):
    found = list(sentences(path.read_text()))
    words = [w for s in found for w in s]
    if not found:
        return None
    per_sentence = len(words) / len(found)
    grade = 0.39 * per_sentence + 11.8 * sum(map(syllables, words)) / len(words) - 15.59
    return len(words), per_sentence, grade


def main():
    pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "search/known/README.md", "examples/own-law/README.md"]
    for pattern in ("docs/**/*.md", "papers/*/README.md", "crates/*/README.md", "vectors/**/README.md", "failures/README.md", "python/README.md"):
        pages += sorted(str(p.relative_to(ROOT)) for p in ROOT.glob(pattern))
    long, total, count, all_syllables = [], 0, 0, 0
    for page in pages:
        measured = measure(ROOT / page)
        if measured is None:
            continue
        words, per_sentence, grade = measured
        total, count = total + words, count + words / per_sentence
        all_syllables += words * (grade + 15.59 - 0.39 * per_sentence) / 11.8
        if "--all" in sys.argv:
            print(f"{page:36} {words:6} words {per_sentence:5.1f} a sentence, grade {grade:4.1f}")
        if per_sentence > BOUND and page not in REASONS:
            long.append(f"{page}: {per_sentence:.1f} words a sentence; the bound is {BOUND:.0f}")
    grade = 0.39 * total / count + 11.8 * all_syllables / total - 15.59
    print(f"readability: {len(pages)} pages, {total / count:.1f} words a sentence, grade {grade:.1f} (before: {BEFORE})")
    print("\n".join(long), end="\n" if long else "")
    return bool(long)


if __name__ == "__main__":
    sys.exit(main())
