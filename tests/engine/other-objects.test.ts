import { describe, expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { catalogue } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { createdId, jsonValue } from '../../harness/journal/index.ts'
import { member } from '../../schemas/json.ts'
import { answer, judge, lost, refusal, type Way } from './networks.ts'

/** Servers that check requests only for one object, or only for those they knew before. */

/** What a scenario, a special file or another id causes is caused for that object alone. */
const ofOneObject = /-pdf$|\/410-|\/4..-unknown-(?:file|graph|application)$|\/4xx-no-effect|\/409-/
const isJudged = (id: string): boolean =>
  !Object.hasOwn(target.scenarios, id) &&
  (!ofOneObject.test(id) || id === 'graphs.add-file/4xx-unknown-file')

/** Grants what must be refused wherever `isOther`: gives the requirements that were judged, and those that failed. */
async function grantingWhere(
  operation: OperationId,
  isOther: (id: string, requirement: string) => boolean,
) {
  const way: Way = (_, send, { probe, purpose }) => {
    const [id = ''] = probe?.operation === operation ? Object.values(probe.params) : []
    const requirement = purpose?.requirement ?? ''
    const isFault = purpose?.role === 'probe' && isJudged(requirement)
    return isFault && isOther(id, requirement) ? answer(200, '{}') : send()
  }
  const { failed, results } = await judge([`${operation}/4*`], {
    reference: { jobMs: 10, slowJobMs: 20 },
    way,
  })
  const judged = results
    .filter(({ id, outcome }) => isJudged(id) && ['passed', 'failed'].includes(outcome))
    .map(({ id }) => id)
  return { failed, judged }
}

const declared = JSON.stringify(target.resources)
const isMade = (id: string): boolean => id !== '' && !declared.includes(id)

describe('what is granted wrongly is found if it is granted only for', () => {
  test.each(['graphs.query', 'graphs.add-file', 'files.retrieve', 'pdf.parse'] as const)(
    'objects of the run: %s',
    async (operation) => {
      const { failed, judged } = await grantingWhere(operation, isMade)
      expect(failed).toEqual(judged)
    },
  )

  test('one of the applications, another one for each requirement', async () => {
    const { otherApplication, slowApplication, failingApplication } = target.resources
    const declared = [otherApplication.id, slowApplication.id, failingApplication.id]
    const { failed, judged } = await grantingWhere('jobs.create', (id, requirement) => {
      const at = catalogue.findIndex((one) => one.id === requirement) % (declared.length + 1)
      // Nobody knows which inputs a created one requires.
      const isOfMade = at === declared.length && !requirement.endsWith('-required-inputs')
      return isOfMade ? isMade(id) : id === (declared[at] ?? slowApplication.id)
    })
    expect(failed).toEqual(judged)
    expect(judged.length).toBeGreaterThan(8)
  })
})

test.each(['otherApplication', 'slowApplication', 'failingApplication'] as const)(
  'a server is found that crashes on each creation of the %s alone',
  async (name) => {
    const { id } = target.resources[name]
    const { failed } = await judge(['jobs.create/202-created', 'jobs.create/409-*'], {
      reference: { jobMs: 10, slowJobMs: 20 },
      way: (_, send, { probe }) =>
        probe?.params['application_id'] === id ? refusal(500, 'InternalError') : send(),
    })
    expect(failed).toEqual(['jobs.create/202-created'])
  },
)

test.each([
  ['throttled', /^throttled: /, () => refusal(429, 'TooManyRequests')],
  ['lost', /^no answer/, lost],
])(
  'no refusal passes without its case on an object of the run whose valid request was %s',
  async (_, why, reply) => {
    const { failed, results } = await judge(['graphs.query/400-*'], {
      way: (__, send, { probe, purpose }) =>
        purpose?.role === 'control' && isMade(probe?.params['graph_id'] ?? '') ? reply() : send(),
      backoffMs: 1,
    })
    expect(failed).toEqual([])
    const rows = results.filter(({ id }) => id.startsWith('graphs.query/400-') && isJudged(id))
    expect(rows.length).toBeGreaterThan(3)
    for (const { reason } of rows) {
      expect(reason).toMatch(why)
      expect(reason).toMatch(/; 1 of \d+ cases were not judged$/)
    }
  },
)

test('a key that must be refused is found if it reads jobs of another application alone', async () => {
  const jobs = new Set<string>()
  const { failed, results } = await judge(['jobs.retrieve/40*'], {
    reference: { jobMs: 10 },
    way: async (_, send, { probe, purpose }) => {
      const isProbe = purpose?.role === 'probe' && probe?.operation === 'jobs.retrieve'
      return isProbe && jobs.has(probe.params['job_id']!) ? answer(200, '{}') : send()
    },
    observe(exchange, { given }) {
      const { operation, params } = exchange.probe
      const isOther = params['application_id'] === target.resources.otherApplication.id
      if (isOther && operation === 'jobs.create') jobs.add(createdId(given, exchange) ?? '')
    },
  })
  const judged = results.filter(({ outcome }) => ['passed', 'failed'].includes(outcome))
  expect(failed).toEqual(judged.map(({ id }) => id))
})

test('keys are tried on a job that the conflicts made on another application', async () => {
  const sentFor = new Set<string | null>()
  await judge(['jobs.*'], {
    reference: { jobMs: 10, slowJobMs: 20 },
    observe: ({ purpose }) => void sentFor.add(purpose.requirement),
  })
  expect(sentFor).toContain('jobs.create/409-per-application')
  expect(sentFor).not.toContain('jobs.retrieve/200-identity')
})

test('the end of a job on another application is read while a longer one goes on', async () => {
  const ended: unknown[] = []
  await judge(['jobs.create/409-*'], {
    reference: { jobMs: 50, slowJobMs: 300 },
    observe({ response }) {
      const job = jsonValue(response)
      if (member(job, 'status') === 'completed') ended.push(member(job, 'application_id'))
    },
  })
  const { otherApplication: other, slowApplication: slow } = target.resources
  expect(ended.find((id) => id === other.id || id === slow.id)).toBe(other.id)
})

test('faults for another application are put into its own inputs', async () => {
  const own = [{ id: 'colour', value: ['green'] }]
  const sent: string[] = []
  for (const seed of [1, 2])
    await judge(['jobs.create/400-m*'], {
      seed,
      change: ({ resources: { otherApplication, ...resources } = {}, ...file }) => ({
        ...file,
        resources: { ...resources, otherApplication: { id: otherApplication!.id, inputs: own } },
      }),
      way: (request, send, { probe }) => {
        if (probe?.params['application_id'] === target.resources.otherApplication.id)
          sent.push(String(request.body))
        return send()
      },
    })
  expect(sent.filter((text) => text.includes('colour')).length).toBeGreaterThan(2)
  expect(sent.filter((text) => text.includes('tea'))).toEqual([])
})

test('an application that requires no inputs is not asked without them', async () => {
  const sent: (string | undefined)[] = []
  await judge(['jobs.create/400-missing-required-inputs'], {
    change: ({ resources: { otherApplication, ...resources } = {}, ...file }) => ({
      ...file,
      resources: { ...resources, otherApplication: { ...otherApplication!, requiredInputs: [] } },
    }),
    observe({ probe, purpose }) {
      if (purpose.role === 'probe') sent.push(probe.params['application_id'])
    },
  })
  expect(sent).toContain(target.resources.application.id)
  expect(sent).not.toContain(target.resources.otherApplication.id)
})

test('without uploads and a file to parse, keys are judged at an unknown one, and nothing is uploaded', async () => {
  const { facts, passed } = await judge(['pdf.parse/401-*'], {
    change: ({ resources: { pdfFile: _file, ...resources } = {}, operations, ...file }) => {
      const { 'files.upload': _uploads, ...others } = operations ?? {}
      return { ...file, resources, operations: others }
    },
  })
  expect(passed).toContain('pdf.parse/401-missing-credentials')
  expect(facts.created).toEqual([])
})
