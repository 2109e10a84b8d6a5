/** The scripts that today's languages are written in (UAX 31, table 5); letters of any other count as one more. */
const scripts = (
  'Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew ' +
  'Hiragana Kannada Katakana Khmer Lao Latin Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'
).split(' ')
const patterns = new Map(scripts.map((name) => [name, new RegExp(`\\p{scx=${name}}`, 'u')]))

/** Which scripts are written together: UTS 39, 5.2, "highly restrictive". */
const together = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
]

/** Letters of Cyrillic and Greek that look like one of Latin. */
const lookalikes = /^[АВЕЅІЈКМНОРСТУХԚԜаеіјорсухѕһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲ]+$/u
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u

/**
 * Why a name may not be what it looks like, one clause each: letters of several scripts that are not written together, none
 * but letters that look like Latin ones, or characters that show nothing (UTS 39).
 */
export function nameMarks(name: string): string[] {
  const letters = [...name.normalize('NFC')].filter((character) => /\p{L}/u.test(character))
  const found = scriptsOf(letters)
  const isMixed =
    found.length > 1 && !together.some((group) => found.every((script) => group.includes(script)))
  return [
    ...(isMixed ? [`letters of several scripts (${found.join(', ')})`] : []),
    ...(lookalikes.test(letters.join('')) ? ['letters that look like Latin ones'] : []),
    ...(invisible.test(name) ? ['characters that show nothing'] : []),
  ]
}

/** The fewest scripts that the letters need, by name. A letter that several scripts use asks for none of them. */
function scriptsOf(letters: readonly string[]): string[] {
  const found = new Set<string>()
  for (const letter of letters) {
    if (/[\p{scx=Common}\p{scx=Inherited}]/u.test(letter)) continue
    const of = scripts.filter((name) => patterns.get(name)?.test(letter))
    if (of.length === 0) found.add('another')
    if (of.length === 1) found.add(of[0]!)
  }
  return [...found].sort()
}
