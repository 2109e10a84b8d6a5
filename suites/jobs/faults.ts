import { type JsonKind, otherKinds } from '../../catalogue/operation.ts'
import { operation } from '../../catalogue/operations.ts'
import fc from 'fast-check'
import type { Fault } from '../../harness/checks/index.ts'
import {
  any,
  byIndex,
  condition,
  declaredResource,
  freshUnknownId,
  granted,
  inPlaceOf,
  judgeEach,
  kindOf,
  nameOfKind,
  ofKinds,
  randomOf,
  refused,
  sample,
  sampled,
  seedFor,
  shown,
  unknown,
  withBody,
} from '../../harness/checks/index.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import { jsonOf, NotExercised, type Probe, type Run, withJson } from '../../harness/engine/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import type { Refusal } from '../created/created-object.ts'
import { ofBodies, refusedByGrammar, refusedByKey, refusedByRights, refusedByType } from '../created/created-object.ts'

/** Place at which a value of another type is put, and the types that are another there. */
interface Place {
  readonly pointer: string
  readonly name: string
  readonly kinds: readonly JsonKind[]
}

const names: Readonly<Record<string, string>> = {
  '/inputs': 'inputs',
  '/inputs/*': 'an item of inputs',
  '/inputs/*/id': 'the id of an item',
  '/inputs/*/value': 'the value of an item',
  '/inputs/*/value/*': 'an item of a value',
}

function places(): Place[] {
  const { members } = operation('jobs.create')
  return [
    { pointer: '', name: 'the body', kinds: ['null', 'boolean', 'number', 'string', 'array'] },
    ...members.map((member): Place => ({
      pointer: member.at.replaceAll('*', '0'),
      name: names[member.at] ?? member.at,
      kinds: ['null', ...otherKinds(member)],
    })),
  ]
}

/** Item, and text in it, that is changed: a server may look at some of them only. */
type Which = 'first' | 'last' | 'optional' | 'required'

interface Misfit {
  readonly pointer: string
  readonly value: unknown
  readonly which: Which
}

function fault({ pointer, name }: Place, kind: string, value: unknown, which: Which): Fault<Misfit> {
  const what = `with a valid body, but ${name}${which === 'optional' ? '' : ` (the ${which})`} is ${kind}: ${shown(value)}`
  const at = pointer.replaceAll('/0', '/*') + (which === 'last' ? ', later' : '')
  const called = pointer === '' ? `body: ${kindOf(value)}` : `${kindOf(value)} @ ${at}`
  return { what, value: { pointer, value, which }, fault: called }
}

/** Values of another type at each place; within items, in the first and in the last one too. */
function ofOtherTypes(): Fault<Misfit>[] {
  const all = places()
  return [
    ...all.flatMap((place) => place.kinds.map((kind) => fault(place, nameOfKind(kind), sample[kind], 'optional'))),
    ...all
      .filter(({ pointer }) => pointer === '/inputs')
      .map((place) => fault(place, 'an object of its items', byIndex, 'optional')),
    ...all
      .filter(({ pointer }) => pointer.startsWith('/inputs/0'))
      .flatMap((place) => (['first', 'last'] as const).map((which) => fault(place, 'a number', sample.number, which))),
  ]
}

/** Adds a wrong item at the end: a server may look at the first of them only. */
function appended(pointer: string, of: string): Fault<Misfit> {
  const what = `with a valid body and one more item of ${of}, the number 42`
  return { what, value: { pointer, value: 42, which: 'first' } }
}

/** Leaves a member out of an item, of a required one if it is the value. */
function lacking(name: string, what: string): Fault<Misfit> {
  return {
    what: `with a valid body, but ${what}`,
    value: { pointer: `/inputs/0/${name}`, value: undefined, which: 'required' },
    fault: `absent @ /inputs/*/${name}`,
  }
}

const generated = (): fc.Arbitrary<Fault<Misfit>> =>
  fc
    .constantFrom(...places())
    .chain((place) =>
      fc
        .tuple(ofKinds(...place.kinds), fc.constantFrom<Which>('first', 'last', 'optional'))
        .map(([value, which]) => fault(place, 'of another type', value, which)),
    )

/**
 * Place of the item that is changed. Without its own id an input that is required is missing as well, which is another
 * fault: one that is not is taken if the place does not matter.
 */
function itemAt(body: unknown, which: Which, required: readonly string[]): number {
  const items = getAt(body, '/inputs')
  if (!Array.isArray(items) || which === 'first') return 0
  if (which === 'last') return items.length - 1
  const isRequired = (item: unknown): boolean => required.includes(String(getAt(item, '/id')))
  if (which === 'required') return Math.max(0, items.findIndex(isRequired))
  const optional = items.findIndex((item) => !isRequired(item))
  return Math.max(0, optional)
}

function misfit(probe: Probe, { pointer: atFirst, value, which }: Misfit, required: readonly string[]): Probe {
  const body: unknown = jsonOf(probe)
  const item = itemAt(body, which, required)
  const texts = getAt(body, `/inputs/${item}/value`)
  const text = which === 'last' && Array.isArray(texts) ? texts.length - 1 : 0
  const pointer = atFirst.replace(/^\/inputs\/0/, `/inputs/${item}`).replace(/\/value\/0$/, `/value/${text}`)
  // If the declared inputs hold no value to replace, the nearest member that they do hold is replaced.
  const isThere = pointer.endsWith('/-')
    ? Array.isArray(getAt(body, pointer.slice(0, -2)))
    : pointer === '' || getAt(body, pointer) !== undefined
  const place = isThere ? pointer : '/inputs'
  return withBody(probe, setAt(body, place, place === pointer ? inPlaceOf(getAt(body, place), value) : 42))
}

/** The body, `inputs`, its items, their `id` and `value`, and the items of a value, each of another JSON type. */
export const malformedInputs = condition(async (refusal) => {
  const required = refusal.context.run.target.resources.application?.requiredInputs ?? []
  const change = (probe: Probe, value: Misfit): Probe => misfit(probe, value, required)
  const valid = await refusal.valid()
  const named = [
    ...ofOtherTypes(),
    appended('/inputs/-', 'inputs'),
    appended('/inputs/0/value/-', 'a value'),
    lacking('id', 'an item has no id'),
    ...(required.length > 0 ? [lacking('value', 'a required item has no value')] : []),
  ]
  // If there are few inputs, the last may be the optional one: equal requests are sent once.
  const made = new Map(named.map((one) => [change(valid, one.value).body, one]))
  return any([...made.values()], generated(), change).bringAbout(refusal)
})

/** Judges that a creation with just the required inputs is granted: all others are optional. */
export const withRequiredInputs = granted('with just the required inputs', (valid, { run }) => {
  const { inputs, requiredInputs } = declaredResource(run, 'application')
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  if (required.length === 0 || required.length === inputs.length) {
    throw new NotExercised('declare an input of resources.application that requiredInputs does not name')
  }
  return withJson(valid, { inputs: required })
})

/** Each required input left out by itself, and all of them. */
export const withoutInput = condition(async ({ valid, judge, context }) => {
  const application = context.run.target.resources.application
  const lacking = (application?.requiredInputs ?? []).map((required) => ({
    inputs: application?.inputs.filter((input) => getAt(input, '/id') !== required) ?? [],
    what: `the required input ${required} left out`,
  }))
  const none = { inputs: [], what: 'no inputs at all' }
  const cases = [...lacking.filter((one) => one.inputs.length > 0), none]
  await judgeEach(sampled(context, cases), async ({ inputs, what }) => {
    const fault = inputs.length === 0 ? 'empty @ /inputs' : 'absent @ /inputs/*'
    await judge({ ...withBody(await valid(), { inputs }), fault }, `with a valid body, but ${what}`)
  })
})

/** Creations of one kind, refused one after the other before one that is to be granted. */
export interface Refusals {
  readonly what: string
  readonly refusals: readonly Refusal[]
  /** From the last refusal to the creation after it, in ms; at once if nothing is said. */
  readonly afterMs?: number
}

/** §8: one application does not block another, and one that does not exist blocks none. */
function byApplication(run: Run, { id }: ApplicationResource): Refusal {
  const random = randomOf(seedFor(run.options.seed, 'another application that does not exist'))
  const params = { application_id: freshUnknownId(run, id, random) }
  const what = 'for an application that does not exist'
  return {
    requirement: '404-unknown-application',
    what,
    statuses: [404],
    change: (valid) => refused({ ...valid, params }),
  }
}

function byBody(of: string, what: string, change: (valid: Probe) => Probe): Refusal {
  return { requirement: of, what, statuses: ofBodies, change }
}

/** Each kind of refusal by itself, and some of all kinds, after which creations are looked at for longer. */
export async function kindsOf(run: Run, application: ApplicationResource) {
  const { inputs, requiredInputs } = application
  const left = (input: unknown): unknown[] => inputs.filter((other) => other !== input)
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  const bodies = [
    byBody('400-missing-inputs', 'without inputs', (valid) => withBody(valid, {})),
    byBody('400-missing-body', 'without a body', (valid) => refused({ ...valid, body: '' })),
    refusedByGrammar,
    byBody('400-malformed-inputs', 'with inputs that are no array', (valid) => withBody(valid, { inputs: 'none' })),
    ...required.map((input) =>
      byBody('400-missing-required-inputs', `without ${input.id}`, (valid) => withBody(valid, { inputs: left(input) })),
    ),
  ]
  const kinds = [
    { what: 'for their body', refusals: bodies },
    { what: 'for their content type or their application', refusals: [refusedByType, byApplication(run, application)] },
    { what: 'for their key', refusals: await refusedByKey(run) },
    { what: 'for the rights of their key', refusals: await refusedByRights(run, 'jobs.create') },
  ]
  const whole = kinds.filter(({ refusals }) => refusals.length > 0)
  const all = { what: 'in several ways', refusals: kinds.flatMap(({ refusals }) => refusals.slice(0, 1)) }
  const kept = sampled({ run, requirement: { id: 'jobs.create/4xx-no-effect' } }, [all, ...whole])
  return { delayed: kept.find((kind) => kind === all), atOnce: kept.filter((kind) => kind !== all) }
}

const noUuids = ['not-a-uuid', '0', '1234567890', 'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz', 'x'.repeat(64)]

/** Generates ids that are no uuid in any spelling, not even without hyphens. */
const generatedIds = fc
  .stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
  .filter((id) => !/^[0-9a-f]{32}$/i.test(id.replaceAll('-', '')))

const noUuid = (id: string): Fault<string> => idFault(id, 'an id that is not a uuid', 'another form')

function idFault(id: string, what: string, fault: string): Fault<string> {
  return { what: `with ${what}`, value: id, fault: `id: ${fault}` }
}

const withId = (probe: Probe, id: string): Probe => refused({ ...probe, params: { job_id: id } })

/** Numbers of characters that are cut off an existing id: a server may find ids by their beginning. */
const cuts = [1, 2, 3, 4, 5, 6, 7, 8] as const

const otherDigit = (digit: string): string => (digit === '0' ? '1' : '0')

/** Ids that differ from that of a job in the first or the last digit, or after the first group: a server may compare only a part. */
const likeJob = [
  ['with its first digit changed', (id: string) => otherDigit(id.slice(0, 1)) + id.slice(1)],
  ['with its last digit changed', (id: string) => id.slice(0, -1) + otherDigit(id.slice(-1))],
  [
    'with all but its first group changed',
    // Version and variant stay, so that it is a uuid of the same kind.
    (id: string) =>
      id.replaceAll(/[0-9a-f]/gi, (digit, at: number) =>
        at < 9 || at === 14 || at === 19 ? digit : otherDigit(digit),
      ),
  ],
] as const

/** Asks for the uuid of no job, twice, and for some that are like that of a job. */
export const unknownJob = condition(async (refusal) => {
  const { valid, judge } = refusal
  await unknown('job_id', ['unknown', 'asked twice', 'of another kind']).bringAbout(refusal)
  for (const [what, change] of likeJob) {
    const probe = await valid()
    const id = change(probe.params['job_id'] ?? '')
    if (refusal.context.run.objects.takenIds.has(id.toLowerCase())) continue
    await judge({ ...withId(probe, id), fault: 'id: like another' }, `with the id of a job ${what}`)
  }
})

/** 1 to 64 letters, digits, `-` and `_` that are no uuid; an existing id that is cut, longer, or with a wildcard of SQL in it. */
export const malformedId = condition(async (refusal) => {
  const id = (await refusal.valid()).params['job_id'] ?? ''
  const likeExisting = [
    ...cuts
      .filter((cut) => cut < id.length)
      .map((cut) => idFault(id.slice(0, -cut), `an existing id that is cut by ${cut}`, 'cut')),
    idFault(`${id}x`, 'an existing id and a character more', 'lengthened'),
    idFault(`${id.slice(0, -1)}_`, 'an existing id, its last character _', 'wildcard'),
  ]
  await any([...likeExisting, ...noUuids.map(noUuid)], generatedIds.map(noUuid), withId).bringAbout(refusal)
})
