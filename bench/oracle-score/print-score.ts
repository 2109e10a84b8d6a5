import { explain } from './explained.ts'
import type { Finding, Score } from './score.ts'

interface Row {
  readonly operation: string
  readonly answers: 'all' | 'one'
  readonly statuses: Set<number>
  readonly note: string
  readonly changes: Set<string>
  count: number
}

/** Changes of one operation and note in one row, those of all answers apart. */
function grouped(findings: readonly Finding[], noteOf: (finding: Finding) => string): Row[] {
  const rows = new Map<string, Row>()
  for (const finding of findings) {
    const { operation, signature, status, name } = finding
    const answers = signature === undefined ? 'all' : 'one'
    const note = noteOf(finding)
    const key = `${note} ${operation} ${answers}`
    const row = rows.get(key) ?? { operation, answers, statuses: new Set(), note, changes: new Set(), count: 0 }
    row.count++
    row.statuses.add(status)
    row.changes.add(name)
    rows.set(key, row)
  }
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

const cells = ({ operation, answers, statuses, changes, count, note }: Row): string =>
  `| ${[
    operation,
    answers,
    [...statuses]
      .sort()
      .map((status) => status || 'any')
      .join(', '),
    [...changes].sort().join('; '),
    count,
    note,
  ].join(' | ')} |`

function table(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  return [
    '',
    `| operation | answers | status | changes | times | ${title} |`,
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(cells),
  ]
}

const share = (part: number, whole: number): string =>
  `${part} of ${whole} (${((100 * part) / (whole || 1)).toFixed(1)} %)`

/** What an ended job reads like later is compared with `200-stable`, and an allowed change shows there too. */
const isFalseAlarm = ({ failed }: Finding): boolean => failed.some((id) => id !== 'jobs.retrieve/200-stable')

/** What all answers of an operation have in common is told apart from what is the matter with one. */
const partOf = ({ subject, signature }: Finding): string => (signature === undefined ? 'all' : subject)

const titles = {
  form: 'the form of one answer',
  state: 'what one answer has to do with its request',
  all: 'all answers of one status that one operation gives, or how it reads its requests',
}

function told(title: string, findings: readonly Finding[]): string {
  const breaches = findings.filter(({ allowed }) => allowed === undefined)
  const unnoticed = breaches.filter(({ failed }) => failed.length === 0)
  const open = unnoticed.filter((finding) => explain(finding) !== '')
  const noticed = breaches.length - unnoticed.length
  return `- ${title}: ${share(noticed, breaches.length)} noticed; of those that are not explained below ${share(noticed, breaches.length - open.length)}.`
}

/** Prints the score as Markdown: what `docs/contributing/oracle-score.md` keeps. */
export function printScore(scores: readonly Score[]): void {
  const findings = scores.flatMap((score) => score.findings)
  const unnoticed = findings.filter(({ allowed, failed }) => allowed === undefined && failed.length === 0)
  const allowed = findings.filter((finding) => finding.allowed !== undefined)
  const alarms = allowed.filter(isFalseAlarm)
  const unmet = scores.reduce((sum, score) => sum + score.unmet, 0)
  const lines = [
    'Changes that the interface does not allow, to',
    '',
    ...Object.entries(titles).map(([part, title]) =>
      told(
        title,
        findings.filter((finding) => partOf(finding) === part),
      ),
    ),
    '',
    `Changes that it allows, failed all the same: ${share(alarms.length, allowed.length)}.`,
    '',
    `${scores[0]?.places ?? 0} changes are possible; ${findings.length + unmet} were made, ${unmet} of which came to nothing.`,
    ...table('why it goes unnoticed', grouped(unnoticed, explain)),
    ...table(
      'failed, though allowed',
      grouped(alarms, ({ failed, allowed: why }) => `${failed.join(', ')}: ${why}`),
    ),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
