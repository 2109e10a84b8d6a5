import type { Distinct } from '../view/causes.ts'
import type { Colors } from 'picocolors/types'
import { shortened, terminalText, visible } from '../escape.ts'
import type { Line } from './lines.ts'
import { sections, type Failure, type RequirementResult } from '../../harness/report/index.ts'
import { levels, outcomes } from '../view/writing.ts'
import { storyLines, evidence, type EvidenceLine, commandOrLength } from '../view/evidence.ts'

const INDENT = ' '.repeat(4)
const LABEL_WIDTH = 10
const ROOM = 80 - INDENT.length - LABEL_WIDTH
const uuid = /\b([\da-f]{8})(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi
/** A longer curl line would take the screen from everything else. */
const LONGEST_CURL = 800

/**
 * A failed requirement with all its evidence: what was sent, what the interface asks for, what came back; then how to see it
 * again. Others that failed for the same cause are named below.
 */
export function failureBlock({ cause, example, results }: Distinct, colors: Colors): Line[] {
  const same = results.filter((one) => one !== example)
  return [
    headOf(example, colors),
    ...(cause === undefined
      ? []
      : [labelled('cause', colors.bold(terminalText(cause.what)), colors)]),
    `${INDENT}${colors.dim(terminalText(example.statement))}`,
    ...example.failures.flatMap((failure) => evidenceLines(failure, colors)),
    ...(same.length === 0
      ? []
      : [
          labelled(
            `same: ${same.length}`,
            same.map((one) => terminalText(one.id)).join(', '),
            colors,
          ),
        ]),
  ]
}

interface Short {
  /** Rows of a terminal that each line of evidence may take. */
  readonly rows: number
  readonly baseUrl: string
  readonly hasCurl: boolean
}

export function shortBlock(
  { cause, example, results }: Distinct,
  colors: Colors,
  { baseUrl, hasCurl, rows }: Short,
): Line[] {
  const [failure] = example.failures
  const more = results.length > 1 ? `  and ${results.length - 1} more` : ''
  const room = ROOM * rows
  const cut = (text: string): string => {
    const short = visible(text.replaceAll(`${baseUrl}/`, '/').replaceAll(uuid, '$1…'))
    return short.length <= room ? short : `${[...short].slice(0, room - 1).join('')}…`
  }
  const whole = failure && {
    ...failure,
    message: cut(failure.message.replace(/ with a valid (?:request|body), but /, ': ')),
    expected: cut(failure.expected),
    actual: cut(
      // The name received says it already.
      failure.onlyName
        ? failure.actual.replace(/ \("[^"]+" is a code name .*\)$/s, '')
        : failure.actual,
    ),
  }
  const curl = failure?.exchange?.curl ?? ''
  return [
    cause === undefined
      ? headOf(example, colors, more)
      : `${signOf(example, colors)} ${colors.bold(`${results.length} × ${cause.isAbsent ? 'not built' : terminalText(shortened(cause.what, 100))}`)}`,
    ...(whole === undefined ? [] : linesOf(evidence(whole).slice(0, 3), colors)),
    ...(hasCurl && curl !== '' && curl.length <= LONGEST_CURL
      ? [{ whole: `${INDENT}${terminalText(curl, Infinity)}` }]
      : []),
  ]
}

function signOf(result: RequirementResult, colors: Colors): string {
  return (result.level === 'must' ? colors.red : colors.yellow)(outcomes.failed.sign)
}

function headOf(result: RequirementResult, colors: Colors, more = ''): string {
  const mark = result.level === 'must' ? colors.red : colors.yellow
  const where = colors.dim(terminalText(sections(result.section)))
  return `${signOf(result, colors)} ${colors.bold(terminalText(result.id))}  ${mark(levels[result.level])}  ${where}${more}`
}

function evidenceLines(failure: Failure, colors: Colors): Line[] {
  const lines = evidence(failure)
  const facts = lines.filter(([label]) => label !== 'again' && label !== 'curl')
  const story = failure.story ? storyLines(failure.story) : []
  return [
    ...linesOf(facts, colors),
    ...story.map((line, at) => labelled(at === 0 ? 'story' : '', terminalText(line), colors)),
    ...linesOf(lines.slice(facts.length), colors),
  ]
}

function linesOf(lines: readonly EvidenceLine[], colors: Colors): Line[] {
  const paints: Partial<Record<EvidenceLine[0], (text: string) => string>> = {
    expected: colors.green,
    received: colors.red,
  }
  return lines.flatMap(([label, text]): Line[] => {
    // Text to copy has its own line, indented with blanks only.
    if (label === 'curl' || label === 'again')
      return [
        `${INDENT}${colors.dim(label)}`,
        { whole: `${INDENT}  ${terminalText(commandOrLength(text), Infinity)}` },
      ]
    return [labelled(label, (paints[label] ?? String)(terminalText(text)), colors)]
  })
}

function labelled(label: string, text: string, colors: Colors): Line {
  return {
    lead: INDENT + colors.dim(label.padEnd(LABEL_WIDTH)),
    width: INDENT.length + LABEL_WIDTH,
    text,
  }
}
