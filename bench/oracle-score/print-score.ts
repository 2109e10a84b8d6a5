import { explain } from './explained.ts'
import { type Finding, oracleScore } from './score.ts'

interface Row {
  readonly operation: string
  readonly status: number
  readonly note: string
  readonly changes: Set<string>
  count: number
}

/** Changes of one operation, status and note in one row. */
function grouped(findings: readonly Finding[], noteOf: (finding: Finding) => string): Row[] {
  const rows = new Map<string, Row>()
  for (const finding of findings) {
    const { operation, status, name } = finding
    const note = noteOf(finding)
    const key = `${note} ${operation} ${status}`
    const row = rows.get(key) ?? { operation, status, note, changes: new Set(), count: 0 }
    row.count++
    row.changes.add(name)
    rows.set(key, row)
  }
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

const cells = ({ operation, status, changes, count, note }: Row): string =>
  `| ${[operation, status, [...changes].sort().join('; '), count, note].join(' | ')} |`

function table(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return []
  return [
    '',
    `| operation | answer | changes | times | ${title} |`,
    '| --- | --- | --- | --- | --- |',
    ...rows.map(cells),
  ]
}

const share = (part: number, whole: number): string => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`

/** What an ended job reads like later is compared with `200-stable`, and an allowed change shows there too. */
const isFalseAlarm = ({ failed }: Finding): boolean => failed.some((id) => id !== 'jobs.retrieve/200-stable')

/** Prints the score as Markdown: what `docs/oracle-score.md` keeps. `only` is an operation that is looked at alone. */
export async function printScore(count: number, only?: string): Promise<void> {
  const started = performance.now()
  const { places, findings, unmet } = await oracleScore({
    count,
    only,
    onFinding: (done) => {
      if (done % 50 === 0) process.stderr.write(`${done} of ${count}\n`)
    },
  })
  const breaches = findings.filter(({ allowed }) => allowed === undefined)
  const unnoticed = breaches.filter(({ failed }) => failed.length === 0)
  const open = unnoticed.filter((finding) => explain(finding) !== '')
  const allowed = findings.filter((finding) => finding.allowed !== undefined)
  const alarms = allowed.filter(isFalseAlarm)
  const lines = [
    `- Changes that the interface does not allow, noticed: ${share(breaches.length - unnoticed.length, breaches.length)}; of those that are not explained below: ${share(breaches.length - unnoticed.length, breaches.length - open.length)}.`,
    `- Changes that it allows, failed all the same: ${share(alarms.length, allowed.length)}.`,
    `- ${places} changes are possible, ${unmet} of those chosen met no response.`,
    ...table('why it goes unnoticed', grouped(unnoticed, explain)),
    ...table(
      'failed, though allowed',
      grouped(alarms, ({ failed, allowed: why }) => `${failed.join(', ')}: ${why}`),
    ),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  process.stderr.write(`in ${Math.round((performance.now() - started) / 1000)} s\n`)
}
