import { levels } from '../reporters/view/writing.ts'
import { Command } from '@commander-js/extra-typings'
import { type CatalogueRequirement, catalogue, published } from '../catalogue/catalogue.ts'
import { matchesId, sections } from '../harness/report/index.ts'
import { UserError } from '../harness/user-error.ts'
import { patternMistake } from '../library/options.ts'
import { colorsFor, tell } from '../library/output/say.ts'
import { groupBy } from '../harness/group-by.ts'
import type { Line } from '../reporters/terminal/lines.ts'
import type { Colors } from 'picocolors/types'

export function listCommand() {
  return new Command('list')
    .summary('the requirements')
    .description('list the requirements of the suite')
    .argument('[pattern]', 'only ids that match; * matches any characters')
    .option('--json', 'as a JSON array')
    .action((pattern, one) => {
      const requirements = matching(pattern)
      const { stdout } = process
      if (one.json) stdout.write(`${JSON.stringify(requirements.map(published), null, 2)}\n`)
      else tell(stdout, listLines(requirements, colorsFor(stdout)))
    })
}

/** An operation's name selects all its requirements. Throws UserError if nothing matches. */
function matching(pattern: string | undefined): readonly CatalogueRequirement[] {
  if (pattern === undefined) return catalogue
  const ofOperation = catalogue.filter((one) => one.operation === pattern)
  if (ofOperation.length > 0) return ofOperation
  const mistake = patternMistake(pattern)
  if (mistake !== undefined) throw new UserError(`list: ${mistake}`)
  return catalogue.filter((one) => matchesId(one.id, pattern))
}

function listLines(requirements: readonly CatalogueRequirement[], colors: Colors): Line[] {
  const groups = [...groupBy(requirements, (one) => one.operation)]
  return groups.flatMap(([operation, own], at): Line[] => [
    ...(at > 0 ? [''] : []),
    colors.bold(operation),
    ...own.flatMap(({ id, level, section, statement }) => [
      `  ${id}  ${levels[level]}  ${colors.dim(sections(section))}`,
      `    ${colors.dim(statement)}`,
    ]),
  ])
}
