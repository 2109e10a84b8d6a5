import { operations } from '../../catalogue/operations.ts'
import { cellsOf, type Part } from '../../tests/spec/fault-matrix.ts'

const headings: Readonly<Record<Part, string>> = {
  keys: 'Keys that are wrong',
  bodies: 'Bodies that are wrong as a whole',
  members: 'Members that are wrong',
  ids: 'Ids of nothing',
}

/** The page as Markdown: a table a part, a row for each kind of fault, and in it each requirement or reason with its operations. */
export function faultMatrixPage(): string {
  const parts = (Object.keys(headings) as Part[]).flatMap((part) => {
    const rows = new Map<string, Map<string, string[]>>()
    for (const { id } of operations) {
      for (const cell of cellsOf(id)[part]) {
        const told =
          'never' in cell
            ? `never: ${cell.never}`
            : `\`${cell.requirement.replace(/^[^/]*/, '*')}\``
        const place = part === 'members' ? `${id}: ${cell.fault}` : cell.fault
        const outcomes = rows.get(place) ?? new Map<string, string[]>()
        outcomes.set(told, [...(outcomes.get(told) ?? []), id])
        rows.set(place, outcomes)
      }
    }
    return [`## ${headings[part]}`, table(part, rows)]
  })
  const text = [
    '# The fault matrix',
    'Every kind of fault of a request, and at every place where it can be, is a case of a requirement or has a reason why it is never sent. A test holds this page against what a run sends.',
    ...parts,
  ].join('\n\n')
  return `${text}\n`
}

function table(
  part: Part,
  rows: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>,
): string {
  const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('*', '\\*')
  const lines = [...rows].map(([fault, outcomes]) => {
    const told = [...outcomes].map(([outcome, ids]) => {
      const all = ids.length === operations.length || part === 'members'
      return `${outcome.startsWith('`') ? outcome : escaped(outcome)}${all ? '' : ` (${ids.join(', ')})`}`
    })
    return `| ${escaped(fault)} | ${told.join('; ')} |`
  })
  return ['| fault | what becomes of it |', '| --- | --- |', ...lines].join('\n')
}
