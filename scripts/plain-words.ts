// npm run words: finds words in docs, comments and messages that are hard to read, with plainer ones to use.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Words to avoid, and what to write instead. */
const plainer: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\bmend(?:s|ed|ing)?\b/, 'fix'],
  [/\b(?:bears?|bore|borne) out\b/, 'support'],
  [/\b(?:bring(?:s|ing)?|brought) (?:it |them )?about\b/, 'cause, trigger'],
  [/\bstands\b(?! for\b| still\b)/, 'is in, is listed under'],
  [/\blies\b/, 'is in'],
  [/\b(?:is|are|was|were|be|been) told\b(?! apart)|, and told\b/, 'is reported'],
  [/(?<!there )\b(?:is|are) none\b/, 'is not one'],
  [/\b(?:that|which|what) (?:is|are) no\b/, 'that is not a'],
  [/\b(?:musts|shoulds)\b/, 'required checks, recommendations'],
  [/\b(?:whoever|whomever|whosoever)\b/, 'name the actor'],
  [/\b(?:is|are) answered (?:by|with)\b/, 'returns, gets'],
  [/, of (?:which|whom)\b/, 'whose, or two sentences'],
  [/\b(?:so|as) many (?:ms|seconds|of them)\b/, 'this many'],
  [/\bnothing (?:is )?said\b/, 'silently'],
  [/\bnevertheless\b/, 'still'],
  [/\band the like\b/, 'such as ...'],
  [/\b(?:says?|said) nothing of\b/, 'nothing about'],
  [/\bwhat (?:came|becomes?) of\b/, 'the result of'],
]

const code = /\.(?:ts|js)$/
const prose = /\.md$|^action\.yml$/
const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
const found = files.flatMap((path) => {
  if (path === 'scripts/plain-words.ts' || !(code.test(path) || prose.test(path))) return []
  const text = readFileSync(path, 'utf8')
  const read = code.test(path)
    ? withoutCode(text)
    : text.replaceAll(/`[^`\n]*`|^```[\s\S]*?^```/gm, blank)
  return plainer.flatMap(([words, instead]) =>
    [...read.matchAll(new RegExp(words, 'gi'))].map(
      (match) =>
        `${path}:${read.slice(0, match.index).split('\n').length}: "${match[0].trim()}": write ${instead}`,
    ),
  )
})
for (const line of found) console.log(line)
console.log(`${found.length} words to replace`)
process.exitCode = found.length > 0 ? 1 : 0

/** Blanks everything but comments and strings, so that line numbers stay. */
function withoutCode(text: string): string {
  const parts =
    /\/\*[\s\S]*?\*\/|(?<![:'"`\\/])\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
  let end = 0
  let kept = ''
  for (const { 0: part, index } of text.matchAll(parts)) {
    kept += blank(text.slice(end, index)) + part.replaceAll(/\$\{[^}]*\}/g, blank)
    end = index + part.length
  }
  return kept + blank(text.slice(end))
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}
