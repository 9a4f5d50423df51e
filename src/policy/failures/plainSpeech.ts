/** Levels of a log that tell of no failure, and lines of one that is over. */
const well =
  /^\W*(?:\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)? ?)?\W{0,3}(?:info|debug|trace|notice|verbose)\b|"level": ?"?(?:info|debug|trace|[123]0)\b|\blevel=(?:info|debug|trace)\b|^(?!.*\b(?:unable|could ?n[o']t|cannot|can't|failed to|did not|was not|never|not)\b).*\b(?:recovered|succeeded|successful(?:ly)?|is healthy)\b/i;

/** Errors of the program that was run, in whose words any name may occur. */
const program =
  /\berror TS\d{3,5}:|\bno overload matches\b|\bcannot find (?:name|module|package)\b|\bcannot import name\b|\bno module named\b|^\W*(?:ImportError|ModuleNotFoundError|NameError|AttributeError|SyntaxError(?!.*\bJSON\b)|ReferenceError|TypeError: (?!fetch failed|terminated|failed to fetch|networkerror))/i;

/** Reports of tests and of assertions, whose titles say what was tried: of vitest, jest, mocha, TAP, Go, pytest, unittest, Rust. */
const report = [
  /^\W*(?:FAIL|FAILED|FAILURE|ERROR|Failed|FLAKY|PASS)\b:? (?:\S+\.(?:test|spec)\.|.* [>›»] |tests?[\\/]|test_\w|\S+::\w|[\w.]*Test[A-Z_]\w*|.*\btests?\b)/,
  /^\W*(?:---|===) (?:FAIL|PASS|RUN|SKIP)\b|^(?:not )?ok \d+\b|^\W*\d{1,4}\) |^\W{0,40}[✗✘✕×✖❯●☓]\s(?=.* [>›»] |.*\b(?:should|returns|retries|throws|handles|rejects|backs)\b|.*\d ?ms\b)/,
  /\b\d+ (?:\w+ )?(?:tests?|specs?|suites?|assertions?|examples?|scenarios?|checks?)\b[^\n]{0,20}\bfail(?:ed|ing|ures?)?\b|^\W*\d+ fail(?:ed|ing|ures?)\b(?=\s*(?:$|[,;|(]))|\btests?:? \d+ (?:failed|passed)/i,
  /\btest \S{1,200} \.\.\. (?:FAILED|ok)\b|\bthread '[^'\n]{1,200}' (?:\(\d+\) )?panicked\b|\b(?:test|spec|scenario)(?: case)? ["'`“]|^(?:\S+ )?(?:test|it|describe|spec|scenario)\(["'`]/i,
  /\bAssertionError\b|\bassert(?:ion)? (?:failed|failure|error)|^\W*assert |\bexpect\(|^\W*expected:? |\bexpected (?:an? )?(?:["'`\d]|status|code|response|HTTP)|\bstatus (?:code )?\d+ expected|\bto (?:equal|match|be|contain|have) ["'`\d]|\bnot in (?:the )?(?:enum|list|\[)/i,
  /(?<!\b(?:you|clients?|requests?|callers?|they|we) )\bshould (?:not )?(?:return|retry|throw|back|reject|fail|respond|answer|give|handle|stop|pass|report|time out)\b|^\W*(?:returns|throws|retries|handles|rejects|backs off|responds with)\b/i,
];

/** Names of files, also with spaces below a folder, by the endings of what people write and programs keep. */
const endings =
  '(?:[cm]?[jt]sx?|jsonl?|md|mdx|html?|txt|csv|tsv|ya?ml|toml|xml|log|py|rb|go|rs|java|kt|swift|cs|cpp|cc|hpp|[ch]|php|sh|sql|css|scss|pdf|docx?|xlsx?|png|jpe?g|gif|svg|zip|gz|ini|conf|lock|snap|tmpl|tex|vue|lua|ex|exs|ipynb|patch|diff|bak)';
const files = new RegExp(
  String.raw`(?<![^\s("'=\`])(?:[^\s:"'()\`]{0,100}[\\/][^\s:"'\`]{1,100}(?: [^\s:"'\`/\\]{1,40}){0,6}?|[\w@~][\w.@~-]{0,100})\.${endings}(?![\w/-]|\.\w)`,
  'gi',
);
/** Names of branches, tags and references: words that are joined by a slash and hyphens. */
const branches = /(?<![\w:/.-])[a-z]\w{0,20}\/(?:[\w.]{1,40}-){1,6}[\w.]{1,40}(?![\w/])/gi;

/** Quotes in which somebody is quoted, or something named; those of a field hold what it says. */
const quotes =
  /(?<![\w"'`“”‘’])(?:"([^"\n]{0,300})"|'([^'\n]{0,300})'(?!\w)|`([^`\n]{0,300})`|“([^”\n]{0,300})”|‘([^’\n]{0,300})’(?!\w))/g;
/** Quotes within a string of JSON. */
const escaped = /\\"[^"\\\n]{0,300}\\"/g;
/** Stand before quotes that hold what a failure says: fields of errors, opened brackets, a value that is assigned. */
const says =
  /(?:[=([{,<]\s?|\b(?:by|with:|resulted in an?|(?:said|says|returned|replied|responded|answered)(?: with)?:?)\s|\b[45]\d\d[\s:,–-]{1,3}|\b(?:errors?|err|exception|(?<!commit )message|metric|limit|msg|details?|reason|cause|caused by|desc|description|body|response|self|status|code|type|stderr)["'`]?\s?:?\s)$/i;
/** Words after a quotation that make it something spoken of. */
const spokenOf = /^ (?:is|was|are|were|has|had|exists?|must|does|did|already|not|rejected|refused)\b/;

/** The words that a text says by itself: without lines that tell of no failure of another side, and without names and titles that it mentions. */
export function plainSpeech(text: string): string {
  return toldLines(text)
    .map((line) => withoutNames(line))
    .join('\n');
}

/** The lines of a text that may tell of a failure of another side. */
export function toldLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => !isOfProgram(line));
}

function isOfProgram(line: string): boolean {
  return well.test(line) || program.test(line) || report.some((each) => each.test(line));
}

/** A line without what it mentions: quoted words, files and branches. What is quoted as a whole, and what is JSON, is said. */
function withoutNames(line: string): string {
  const unquoted = line.replaceAll(escaped, "''");
  if (/^\s*["'`“‘]?[{[]/.test(line)) return unquoted;
  const isWithin = withinBrackets(unquoted);
  const bare = unquoted.replaceAll(quotes, (whole: string, ...rest: readonly unknown[]) => {
    const place = Number(rest.find((each) => typeof each === 'number'));
    return isSaid(unquoted, whole, place, isWithin) ? whole : `${whole.charAt(0)}${whole.at(-1)}`;
  });
  return bare.replaceAll(files, '<name>').replaceAll(branches, '<name>');
}

function isSaid(line: string, whole: string, place: number, isWithin: (place: number) => boolean): boolean {
  const after = line.slice(place + whole.length);
  if (spokenOf.test(after)) return false;
  if (/^`\w+`$/.test(whole) || (place === 0 && after.trim() === '')) return true;
  return says.test(line.slice(Math.max(0, place - 40), place)) || isWithin(place);
}

/** Tells of places, each behind the one before, whether they are in brackets that were opened before: of JSON, of Python. */
function withinBrackets(line: string): (place: number) => boolean {
  let [at, depth] = [0, 0];
  return (place) => {
    for (; at < place; at++) {
      const each = line[at];
      if (each === '{' || each === '(') depth += 1;
      if ((each === '}' || each === ')') && depth > 0) depth -= 1;
    }
    return depth > 0;
  };
}
