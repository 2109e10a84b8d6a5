import { otherKinds } from '../../catalogue/operations.ts'
import fc from 'fast-check'
import { type Case, type Fault, type Material, byCases, inMember } from '../checks/case.ts'
import {
  type Change,
  absent,
  caseOf,
  change,
  inOtherItem,
  ofKinds,
  ofOtherTypes,
  ofKindsAny,
  anyText,
  type Placed,
  arraysAbove,
  placesIn,
  kindOf,
} from '../checks/changes.ts'
import { byRecord, missingBody, unknown, unknownIdCases } from '../checks/faults.ts'
import { type Basis, requireControl, whyNotOfInput } from '../checks/valid-request.ts'
import { freshUnknownId, randomFor, seedFor } from '../checks/random.ts'
import { grantedProbe, inScenario } from '../checks/granted.ts'
import { getAt, preview } from '../../schemas/json.ts'
import {
  isOpen,
  jsonOf,
  type Open,
  type Probe,
  withChange,
  withJson,
  type Verdict,
  open,
} from '../../harness/journal/index.ts'
import {
  allOf,
  answerRule,
  type CaseRule,
  held,
  judgeInOrder,
  requestFor,
} from '../checks/rules.ts'
import { awkwardTexts } from '../checks/bad-input.ts'
import { type CheckContext, settle } from '../../harness/run/index.ts'

const malformedInputs = byCases(
  (material) => {
    // The innermost first: if others depend on the first case alone, it is one that a server finds late.
    const places = inputPlaces(material, false).toReversed()
    const whole = places.at(-1)
    const at = (member: string) => (place: Placed) => place.member.at === `/inputs/*/${member}`
    const badTypes = (place: Placed) => [...ofKinds(place, ['null']), ...ofOtherTypes(place)]
    const types = places.flatMap(badTypes)
    const withoutId = places.filter(at('id')).flatMap(absent)
    const needed = inputPlaces(material, true).filter((one) => one.member.at.includes('/value'))
    // A server may take inputs alone.
    const bare = (body: unknown): unknown => getAt(body, '/inputs')
    return [
      ...types,
      change(whole!, 'array', 'just the array of inputs', bare),
      change(whole!, 'text', 'the valid body as a text', JSON.stringify),
      ...withoutId,
      ...needed.filter(at('value')).flatMap(absent),
      ...needed.flatMap(badTypes),
      // A server that skips a malformed input then misses nothing, and must still refuse.
      ...[...types, ...withoutId].flatMap(behind),
    ].map((one) => caseOf(one))
  },
  {
    generated: (material) =>
      fc
        .tuple(fc.constantFrom(...inputPlaces(material, false)), fc.boolean())
        .chain(([place, isBehind]) =>
          ofKindsAny('null', ...otherKinds(place.member)).map((value) => {
            const one = change(place, kindOf(value), preview(value), () => value)
            return caseOf((isBehind ? behind(one)[0] : undefined) ?? one)
          }),
        ),
  },
)

/**
 * Places in the body and in its first optional input, since a wrong id of a required one is also a missing input; or in
 * its first required one, if any.
 */
function inputPlaces(material: Material, isRequired: boolean): Placed[] {
  const body = jsonOf(material.valid)
  const needed = material.target.resources.application?.requiredInputs ?? []
  if (isRequired && needed.length === 0) return []
  const member = { at: '', kinds: ['object'], section: '2.5' } as const
  const isSought = (item: unknown) => needed.includes(String(getAt(item, '/id'))) === isRequired
  return [
    { member, pointer: '', body, like: body },
    ...placesIn(material, 'jobs.create', body, (items) => Math.max(0, items.findIndex(isSought))),
  ]
}

function behind(one: Change): Change[] {
  const array = arraysAbove(one.place).at(-1)
  return array === undefined ? [] : inOtherItem(one, array, 'last')
}

export function requiredInputsOnly({ target }: Basis): Case['change'] | Open {
  const { inputs = [], requiredInputs = [] } = target.resources.application ?? {}
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  if (required.length === 0 || required.length === inputs.length)
    return open('declare an input of resources.application that requiredInputs does not name')
  return (valid) => withJson(valid, { inputs: required })
}

const withoutInput = byCases((other) => {
  const { inputs: all = [], requiredInputs = [] } = other.target.resources.application ?? {}
  if (requiredInputs.length === 0) return []
  const holding = (inputs: typeof all, what: string, fault: Fault): Case => ({
    what: `with a valid body, but ${what}`,
    faults: [fault],
    change: (valid) => withJson(valid, { inputs }),
  })
  const lacking = requiredInputs.map((required) => {
    const others = all.filter((input) => input.id !== required)
    const what = `the required input ${required} left out`
    return holding(others, what, inMember('absent', '/inputs/*'))
  })
  const none = holding([], 'no inputs at all', inMember('empty', '/inputs'))
  return all.length > 1 ? [...lacking, none] : [none]
})

/** Faults of the body or path, by the requirement about each. */
export const jobFaults = () => ({
  '400-missing-body': missingBody,
  '400-missing-inputs': byRecord(),
  '400-missing-required-inputs': withoutInput,
  '400-malformed-inputs': malformedInputs,
  '404-unknown-application': unknown('application_id'),
})

function idCase(
  what: string,
  kind: string,
  change: (id: string) => string,
  isUnknownId = true,
): Case {
  const withId = (probe: Probe): Probe => ({
    ...probe,
    params: { job_id: change(probe.params['job_id'] ?? '') },
  })
  return { what: `with ${what}`, faults: [{ part: 'id', kind }], isUnknownId, change: withId }
}

const otherDigit = (digit: string): string => (digit === '0' ? '1' : '0')

/** A server may compare only a part of an id. */
const likeJob: Readonly<Record<string, (id: string) => string>> = {
  'its first digit changed': (id) => otherDigit(id.slice(0, 1)) + id.slice(1),
  'its last digit changed': (id) => id.slice(0, -1) + otherDigit(id.slice(-1)),
  // Keeps version and variant, so that the uuid is of the same kind.
  'all but its first group changed': (id) =>
    id.replaceAll(/[0-9a-f]/gi, (digit, at: number) =>
      at < 9 || at === 14 || at === 19 ? digit : otherDigit(digit),
    ),
}

export const unknownJob = byCases(
  (material) => {
    const { objects, requirement } = material
    const nobodys = (id: string, changed: string): string => {
      const random = randomFor(material, requirement.id)
      return changed === id || objects.takenIds.has(changed.toLowerCase())
        ? freshUnknownId({ objects }, id, random)
        : changed
    }
    return [
      ...unknownIdCases(material, 'job_id', ['unknown', 'asked twice', 'of another kind']),
      ...Object.entries(likeJob).map(([what, change]) =>
        idCase(`the id of a job with ${what}`, 'like another', (id) => nobodys(id, change(id))),
      ),
    ]
  },
  { inOrder: true },
)

const noUuids = [
  'not-a-uuid',
  '0',
  '1234567890',
  'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz',
  'x'.repeat(64),
  // Names that every JavaScript object has: a server may look up ids in one.
  ...['constructor', '__proto__', 'valueOf'],
]

const noUuid = (id: string): Case =>
  idCase('an id that is not a uuid', 'another form', () => id, false)

/** An existing id shortened (a server may find ids by prefix), lengthened, or with an SQL wildcard; other text. */
export const malformedId = byCases(
  (one) => [
    ...[1, 2, 3, 4, 5, 6, 7, 8]
      .filter((cut) => cut < (one.valid.params['job_id'] ?? '').length)
      .map((cut) =>
        idCase(`an existing id that is cut by ${cut}`, 'cut', (id) => id.slice(0, -cut)),
      ),
    idCase('an existing id and a character more', 'lengthened', (id) => `${id}x`),
    idCase(
      'an existing id, its last character _',
      'wildcard',
      (id) => `${id.slice(0, -1)}_`,
      false,
    ),
    ...noUuids.map(noUuid),
  ],
  {
    generated: () =>
      fc
        .stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
        .filter((id) => !/^[0-9a-f]{32}$/i.test(id.replaceAll('-', '')))
        .map(noUuid),
  },
)

/** Never a 5xx. All texts go in one request, and if that is refused, each alone: one text may hide the others. */
export async function takesAnyText(context: CheckContext): Promise<Verdict> {
  const { client, given, requirement, scenario } = context
  const control = await requireControl(context, 'jobs.create')
  if (isOpen(control)) return control
  const ruleOf = (texts: readonly string[]): CaseRule => {
    const { inputs = [] } = given.target.resources.application ?? {}
    const body = { inputs: inputs.map((input) => ({ ...input, value: texts })) }
    const fault = texts.every((text) => text.trim() === '')
      ? 'empty @ /inputs/*/value/*'
      : undefined
    const withTexts = (valid: Probe): Probe => ({ ...withJson(valid, body), fault })
    const make = () => withChange(control.valid(), withTexts)
    const source = grantedProbe(context, 'jobs.create', make)
    const alone = judgeInOrder(texts.length > 1 ? texts.map((text) => ruleOf([text])) : [], 1)
    // The type is right, but a crash is one on user input.
    const request = requestFor(context, JSON.stringify(texts), source, { badInput: true })
    const judge = answerRule(context, request, (exchange, journal) => {
      const { status } = exchange.response!
      if (status < 300) return held
      const each = alone(journal).verdicts
      const found = each.find((one) => one.outcome !== 'held')
      if (found) return found
      if (status < 500) return { outcome: 'held', cases: each.length + 1 }
      const expected = 'any answer except a 5xx, whatever the inputs contain'
      const what = `with the inputs ${preview(texts)}`
      return { outcome: 'broken', evidence: { exchange, what, expected } }
    })
    return { judge }
  }
  const groups = [scenario ? ['text'] : awkwardTexts]
  if (!scenario && given.options.depth === 'full') {
    const search = { seed: seedFor(given, requirement.id), numRuns: given.options.grantedRuns }
    // Texts without content go by themselves, since many servers refuse them.
    groups.push(['', ' '], fc.sample(anyText(40), search))
  }
  const rule = allOf(groups.map(ruleOf), { inOrder: true })
  const verdict = await inScenario(context, 'jobs.create', () => settle(client, rule))
  const [crash] = verdict.outcome === 'broken' ? verdict.evidence : []
  const why = crash && (await whyNotOfInput(client, given, crash.exchange))
  return why === undefined ? verdict : { outcome: 'open', cases: verdict.cases ?? 0, why }
}
