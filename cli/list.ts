import { levels, json } from '../reporters/text.ts'
import { Command } from '@commander-js/extra-typings'
import { catalogue, published } from '../catalogue/catalogue.ts'
import { sections } from '../harness/report/index.ts'
import { colorsFor, tell } from '../library/output.ts'
import { groupBy } from '../harness/group-by.ts'
import type { Line } from '../reporters/terminal.ts'
import type { Colors } from 'picocolors/types'

export function command() {
  return new Command('list')
    .description('list the requirements of the suite')
    .option('--json', 'as a JSON array')
    .action((one) => {
      const { stdout } = process
      if (one.json) stdout.write(`${json(catalogue.map(published), 2)}\n`)
      else tell(stdout, listLines(colorsFor(stdout)))
    })
}

function listLines(colors: Colors): Line[] {
  const groups = [...groupBy(catalogue, (one) => one.operation)]
  return groups.flatMap(([operation, own], at): Line[] => [
    ...(at > 0 ? [''] : []),
    colors.bold(operation),
    ...own.flatMap((one) => [
      `  ${one.id}  ${levels[one.level]}  ${colors.dim(sections(one.section))}`,
      `    ${colors.dim(one.statement)}`,
    ]),
  ])
}
