import { catalogue, isRequirementId, type RequirementId } from '../../catalogue/catalogue.ts'
import type { FailureExchange, Story } from '../../harness/report/index.ts'
import { defects } from '../../reference/server.ts'
import { judgeReference } from '../../tests/matrix/judge-reference.ts'

/** An exchange that keeps a requirement, and one of a server that breaks it. */
export interface Examples {
  readonly right?: FailureExchange
  readonly wrong?: {
    readonly exchange: FailureExchange
    readonly expected: string
    readonly received: string
    readonly story?: Story
  }
}

/** Examples for each requirement, seen by judging the reference: as it is, and with a switch that breaks just this one. */
export async function examplesOf(
  ids: readonly RequirementId[] = catalogue.map(({ id }) => id),
): Promise<ReadonlyMap<RequirementId, Examples>> {
  const right = await rightOnes(ids)
  const examples = new Map<RequirementId, Examples>()
  // One after the other: virtual time is that of the whole process.
  for (const id of ids) {
    const [good, bad] = [right.get(id), await wrongOne(id)]
    examples.set(id, { ...(good && { right: good }), ...(bad && { wrong: bad }) })
  }
  return examples
}

async function rightOnes(only: readonly string[]): Promise<ReadonlyMap<string, FailureExchange>> {
  const seen = new Map<string, FailureExchange>()
  await judgeReference(
    {},
    {
      options: { only },
      prepare({ client }) {
        client.observers.push((exchange) => {
          const { requirement, role } = exchange.purpose
          if (role !== 'probe' || requirement === null || seen.has(requirement)) return
          if (isRequirementId(requirement)) seen.set(requirement, exchange.recorded)
        })
      },
    },
  )
  return seen
}

async function wrongOne(id: RequirementId): Promise<Examples['wrong']> {
  // What breaks the whole of it tells more than another name of the error.
  const names = [id, ...defects.filter((name) => name.startsWith(`${id}#`))]
  const defect = names.find((name) => defects.includes(name))
  if (defect === undefined) return undefined
  const { of } = await judgeReference({ defects: [defect] }, { options: { only: [id] } })
  const [failure] = of(id).failures
  if (!failure?.exchange) return undefined
  const { actual: received, exchange, expected, story } = failure
  return { exchange, expected, received, ...(story && { story }) }
}
