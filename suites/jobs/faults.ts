import { otherKinds } from '../../catalogue/operation.ts'
import fc from 'fast-check'
import {
  type Case,
  type Change,
  type Material,
  type PickItem,
  type Placed,
  absent,
  arraysAbove,
  byCases,
  caseOf,
  change,
  changedBody,
  declaredResource,
  freshUnknownId,
  granted,
  inOtherItem,
  kindOf,
  ofKinds,
  ofKindsAny,
  ofOtherTypes,
  placesIn,
  randomOf,
  refused,
  sampled,
  seedFor,
  shown,
  unknownIdCases,
  withBody,
} from '../../harness/checks/index.ts'
import { getAt } from '../../schemas/json.ts'
import { jsonOf, NotExercised, type Probe, withJson } from '../../harness/journal/index.ts'
import type { Run } from '../../harness/run/index.ts'
import type { ApplicationResource } from '../../harness/target/index.ts'
import {
  ofBodies,
  type Refusal,
  refusedByGrammar,
  refusedByKey,
  refusedByRights,
  refusedByType,
} from '../created/drive.ts'
import { ids } from './rules.ts'

export const malformedInputs = byCases(
  (material) => {
    const { body, first, last, optional, required, isRequired } = inputPlaces(material)
    const types = optional.flatMap((place) => [...ofKinds(place, ['null']), ...ofOtherTypes(place)])
    const lacking = required.filter((place) => isLeftOut(place, isRequired)).flatMap(absent)
    // Only inputs without an id: an input without a value, behind the valid one, would repeat its id.
    const furtherItems = lacking.filter(({ place }) => place.member.at === '/inputs/*/id')
    const named = [
      ...types,
      ...first.flatMap(numberInItems),
      ...last.flatMap((place) => numberInItems(place).map(asLater)),
      ...lacking,
      // Behind the valid inputs: a server that skips a malformed input then misses nothing, and must still refuse.
      ...[...types, ...furtherItems].flatMap(behind),
    ]
    // With few inputs, the last may be optional: equal requests are sent once.
    const cases = new Map(
      named.map((one) => [JSON.stringify(changedBody([one], body)), caseOf(one)]),
    )
    return [...cases.values()]
  },
  {
    generated(material) {
      const { first, last, optional } = inputPlaces(material)
      return fc
        .tuple(fc.constantFrom(...first, ...last, ...optional), fc.boolean())
        .chain(([place, isBehind]) =>
          ofKindsAny('null', ...otherKinds(place.member)).map((value) => {
            const one = change(place, kindOf(value), shown(value), () => value)
            return caseOf((isBehind ? behind(one)[0] : undefined) ?? one)
          }),
        )
    },
  },
)

/**
 * Places with the first and last item of each array, since a server may check only some. Uses the first optional input:
 * for a required one, a wrong id or value is also a missing input.
 */
function inputPlaces(material: Material) {
  const body = jsonOf(material.valid)
  const needed = material.target.resources.application?.requiredInputs ?? []
  const isNeeded = (item: unknown): boolean => needed.includes(String(getAt(item, '/id')))
  const member = { at: '', kinds: ['object'], section: '2.5' } as const
  const whole: Placed = { member, pointer: '', body, like: body }
  const by = (pick: PickItem): Placed[] => [whole, ...placesIn(material, 'jobs.create', body, pick)]
  const ofFirst = (is: (item: unknown) => boolean): Placed[] =>
    by((items) => Math.max(0, items.findIndex(is)))
  return {
    body,
    isRequired: needed.length > 0,
    first: by(() => 0),
    last: by((items) => items.length - 1),
    optional: ofFirst((item) => !isNeeded(item)),
    required: ofFirst(isNeeded),
  }
}

const numberInItems = (place: Placed): Change[] =>
  place.member.at.includes('*') ? ofKinds(place, ['number']) : []

const asLater = (one: Change): Change => ({
  ...one,
  faults: one.faults.map((fault) => `${fault}, later`),
})

/** The same fault in a further item after all valid ones. */
function behind(one: Change): Change[] {
  const array = arraysAbove(one.place).at(-1)
  return array === undefined ? [] : inOtherItem(one, array, 'last')
}

const isLeftOut = ({ member: { at } }: Placed, isRequired: boolean): boolean =>
  at === '/inputs/*/id' || (at === '/inputs/*/value' && isRequired)

export const withRequiredInputs = granted('with just the required inputs', (valid, known) => {
  const { inputs, requiredInputs } = declaredResource(known, 'application')
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  if (required.length === 0 || required.length === inputs.length) {
    throw new NotExercised(
      'declare an input of resources.application that requiredInputs does not name',
    )
  }
  return withJson(valid, { inputs: required })
})

export const withoutInput = byCases(({ target }) => {
  const { inputs: all = [], requiredInputs = [] } = target.resources.application ?? {}
  if (requiredInputs.length === 0) return []
  const lacking = requiredInputs.map((required) => ({
    inputs: all.filter((input) => getAt(input, '/id') !== required),
    what: `the required input ${required} left out`,
  }))
  const none = { inputs: [], what: 'no inputs at all' }
  return [...lacking.filter((one) => one.inputs.length > 0), none].map(({ inputs, what }) => ({
    what: `with a valid body, but ${what}`,
    fault: inputs.length === 0 ? 'empty @ /inputs' : 'absent @ /inputs/*',
    change: (valid) => withJson(valid, { inputs }),
  }))
})

/** Each kind of refusal alone, and some of all kinds, after which creations are watched longer. */
export async function kindsOf(run: Run, { id, inputs, requiredInputs }: ApplicationResource) {
  const byBody = (requirement: string, what: string, json: unknown): Refusal => ({
    requirement,
    what,
    statuses: ofBodies,
    change: (valid) => withBody(valid, json),
  })
  const random = randomOf(seedFor(run.options.seed, 'another application that does not exist'))
  const params = { application_id: freshUnknownId(run, id, random) }
  // §8: one application does not block another, and an unknown one blocks none.
  const byApplication: Refusal = {
    requirement: '404-unknown-application',
    what: 'for an application that does not exist',
    statuses: [404],
    change: (valid) => refused({ ...valid, params }),
  }
  const byNoBody: Refusal = {
    requirement: '400-missing-body',
    what: 'without a body',
    statuses: ofBodies,
    change: (valid) => refused({ ...valid, body: '' }),
  }
  const without = (input: unknown) => ({ inputs: inputs.filter((other) => other !== input) })
  const kinds = [
    [
      byBody('400-missing-inputs', 'without inputs', {}),
      byNoBody,
      refusedByGrammar,
      byBody('400-malformed-inputs', 'with inputs that are not an array', { inputs: 'none' }),
      ...inputs
        .filter((input) => requiredInputs.includes(input.id))
        .map((one) => byBody('400-missing-required-inputs', `without ${one.id}`, without(one))),
    ],
    [refusedByType, byApplication],
    await refusedByKey(run),
    await refusedByRights(run, 'jobs.create'),
  ].filter((refusals) => refusals.length > 0)
  const all = kinds.flatMap((refusals) => refusals.slice(0, 1))
  const kept = sampled({ run, requirement: { id: ids.noEffect } }, [all, ...kinds])
  return { delayed: kept.find((one) => one === all), atOnce: kept.filter((one) => one !== all) }
}

const noUuids = [
  'not-a-uuid',
  '0',
  '1234567890',
  'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz',
  'x'.repeat(64),
  // Names that every JavaScript object has: a server may look up ids in one.
  ...['constructor', '__proto__', 'valueOf'],
]

const generatedIds = fc
  .stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
  .filter((id) => !/^[0-9a-f]{32}$/i.test(id.replaceAll('-', '')))

const noUuid = (id: string): Case => idCase(id, 'an id that is not a uuid', 'another form')

function idCase(id: string, what: string, fault: string): Case {
  return { what: `with ${what}`, fault: `id: ${fault}`, change: (probe) => withId(probe, id) }
}

const withId = (probe: Probe, id: string): Probe => refused({ ...probe, params: { job_id: id } })

/** Numbers of characters removed from an existing id: a server may find ids by prefix. */
const cuts = [1, 2, 3, 4, 5, 6, 7, 8] as const

const otherDigit = (digit: string): string => (digit === '0' ? '1' : '0')

/**
 * Ids that differ from a job's in the first or last digit, or after the first group: a server may compare only a part.
 */
const likeJob: readonly (readonly [what: string, change: (id: string) => string])[] = [
  ['with its first digit changed', (id) => otherDigit(id.slice(0, 1)) + id.slice(1)],
  ['with its last digit changed', (id) => id.slice(0, -1) + otherDigit(id.slice(-1))],
  [
    'with all but its first group changed',
    // Keeps version and variant, so that the uuid is of the same kind.
    (id) =>
      id.replaceAll(/[0-9a-f]/gi, (digit, at: number) =>
        at < 9 || at === 14 || at === 19 ? digit : otherDigit(digit),
      ),
  ],
]

/** The changed id; if it may exist, as for a short id, another unknown one. */
function nobodys(
  { objects, options, requirement }: Material,
  id: string,
  change: (id: string) => string,
): string {
  const changed = change(id)
  const random = randomOf(seedFor(options.seed, requirement.id))
  return changed === id || objects.takenIds.has(changed.toLowerCase())
    ? freshUnknownId({ objects }, id, random)
    : changed
}

export const unknownJob = byCases(
  (material) => [
    ...unknownIdCases(material, 'job_id', ['unknown', 'asked twice', 'of another kind']),
    ...likeJob.map(([what, changed]): Case => ({
      what: `with the id of a job ${what}`,
      fault: 'id: like another',
      change: (valid) => withId(valid, nobodys(material, valid.params['job_id'] ?? '', changed)),
    })),
  ],
  { inOrder: true },
)

/**
 * 1 to 64 letters, digits, `-` and `_` that are not a uuid; an existing id shortened, lengthened, or with an SQL
 * wildcard.
 */
export const malformedId = byCases(
  ({ valid }) => {
    const { length } = valid.params['job_id'] ?? ''
    const changed = (what: string, fault: string, change: (id: string) => string): Case => ({
      what: `with ${what}`,
      fault: `id: ${fault}`,
      change: (probe) => withId(probe, change(probe.params['job_id'] ?? '')),
    })
    return [
      ...cuts
        .filter((cut) => cut < length)
        .map((cut) =>
          changed(`an existing id that is cut by ${cut}`, 'cut', (id) => id.slice(0, -cut)),
        ),
      changed('an existing id and a character more', 'lengthened', (id) => `${id}x`),
      changed('an existing id, its last character _', 'wildcard', (id) => `${id.slice(0, -1)}_`),
      ...noUuids.map(noUuid),
    ]
  },
  { generated: () => generatedIds.map(noUuid) },
)
