import { Command } from 'commander'
import { catalogue, type CatalogueRequirement, isRequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { matchesId, patternProblem } from '../harness/report/selection.ts'
import { colorsFor } from './output/say.ts'
import type { Sent } from './explain/requests.ts'
import { UserError } from '../harness/user-error.ts'
import { idMeant } from '../harness/target-file/nearest.ts'

export function explainCommand(): Command {
  return new Command('explain')
    .description('one requirement: what is sent, which answers pass and why, what the target must declare')
    .argument('<id>', 'as conform list shows it')
    .action(async (id: string) => {
      const row = rowOf(id)
      const [{ explanation }, sent] = await Promise.all([import('./explain/explanation.ts'), sentOf(row)])
      process.stdout.write(explanation(row, sent, colorsFor(process.stdout)))
    })
}

function rowOf(id: string): CatalogueRequirement {
  if (isRequirementId(id)) return requirementOf(id)
  const problem = patternProblem(id)
  if (problem !== undefined) throw new UserError(`explain: ${problem}`)
  const all = id.includes('*') ? id : `${id}/*`
  if (catalogue.some((row) => matchesId(row.id, all)))
    throw new UserError(`explain ${id}: it takes one id, and several match; conform list '${all}' shows them`)
  throw new UserError(`explain ${id}: no requirement has such an id${idMeant(id)}`)
}

/** Longest wait for an explanation, in ms. */
const patienceMs = 4_000

/** Rows about every response send nothing of their own, and those of scenarios what the target file says. */
async function sentOf(row: CatalogueRequirement): Promise<Sent> {
  if (row.scenarioOnly || (row.operation === 'envelope' && row.maxRequests === 0)) return { lines: [], difference: [] }
  const { sentFor } = await import('./explain/requests.ts')
  return (await sentFor([row], patienceMs)).get(row.id)!
}
