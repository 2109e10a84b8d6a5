import { otherKinds } from '../../catalogue/operations.ts'
import fc from 'fast-check'
import { type Case, type Material, byCases } from '../checks/case.ts'
import {
  type Change,
  type PickItem,
  type Placed,
  absent,
  arraysAbove,
  caseOf,
  change,
  changedBody,
  inOtherItem,
  ofKinds,
  ofOtherTypes,
  placesIn,
  kindOf,
  ofKindsAny,
  refused,
  unknownIdCases,
  anyText,
} from '../checks/faults.ts'
import {
  declaredResource,
  freshUnknownId,
  randomFor,
  seedFor,
  grantedControl,
  whyNotOfInput,
} from '../checks/valid-request.ts'
import { granted, grantedProbe, inScenario } from '../checks/granted.ts'
import { getAt, preview } from '../../schemas/json.ts'
import {
  jsonOf,
  NotExercised,
  type Probe,
  withJson,
  type Journal,
  type Verdict,
} from '../../harness/journal/index.ts'
import {
  allOf,
  answerRule,
  type CaseRule,
  type CaseVerdict,
  generatedBy,
  judgeSome,
  requestFor,
} from '../checks/rules.ts'
import { characters, plainer } from '../checks/bad-input.ts'
import { type CheckContext, settle } from '../../harness/run/index.ts'
import { jobRequest } from './drive.ts'

export const malformedInputs = byCases(
  (material) => {
    const { body, first, last, optional, required, isRequired } = inputPlaces(material)
    const types = optional.flatMap((place) => [...ofKinds(place, ['null']), ...ofOtherTypes(place)])
    const isLeftOut = ({ member: { at } }: Placed): boolean =>
      at === '/inputs/*/id' || (at === '/inputs/*/value' && isRequired)
    const lacking = required.filter(isLeftOut).flatMap(absent)
    // Only inputs without an id: an input without a value, behind the valid one, would repeat its id.
    const furtherItems = lacking.filter((one) => one.place.member.at === '/inputs/*/id')
    const named = [
      ...types,
      ...inItems(first).flatMap((place) => ofKinds(place, ['number'])),
      ...inItems(last)
        .flatMap((place) => ofKinds(place, ['number']))
        .map((one) => ({ ...one, faults: one.faults.map((fault) => `${fault}, later`) })),
      ...lacking,
      // A server that skips a malformed input then misses nothing, and must still refuse.
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
            const one = change(place, kindOf(value), preview(value), () => value)
            return caseOf((isBehind ? behind(one)[0] : undefined) ?? one)
          }),
        )
    },
  },
)

/**
 * Places with the first and last item of each array, since a server may check only some; in an optional input, since a
 * wrong id of a required one is also a missing input.
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

const inItems = (places: readonly Placed[]): Placed[] =>
  places.filter((place) => place.member.at.includes('*'))

function behind(one: Change): Change[] {
  const array = arraysAbove(one.place).at(-1)
  return array === undefined ? [] : inOtherItem(one, array, 'last')
}

export const withRequiredInputs = granted('with just the required inputs', (valid, known) => {
  const { inputs, requiredInputs = [] } = declaredResource(known, 'application')
  const required = inputs.filter((input) => requiredInputs.includes(input.id))
  if (required.length === 0 || required.length === inputs.length) {
    throw new NotExercised(
      'declare an input of resources.application that requiredInputs does not name',
    )
  }
  return withJson(valid, { inputs: required })
})

export const withoutInput = byCases((other) => {
  const { inputs: all = [], requiredInputs = [] } = other.target.resources.application ?? {}
  if (requiredInputs.length === 0) return []
  const lacking = requiredInputs.map((required) => ({
    inputs: all.filter((input) => getAt(input, '/id') !== required),
    what: `the required input ${required} left out`,
  }))
  const none = { inputs: [], what: 'no inputs at all' }
  return [...lacking.filter((one) => one.inputs.length > 0), none].map((one) => ({
    what: `with a valid body, but ${one.what}`,
    fault: one.inputs.length === 0 ? 'empty @ /inputs' : 'absent @ /inputs/*',
    change: (valid) => withJson(valid, { inputs: one.inputs }),
  }))
})

function idCase(what: string, fault: string, change: (id: string) => string): Case {
  const withId = (probe: Probe): Probe =>
    refused({ ...probe, params: { job_id: change(probe.params['job_id'] ?? '') } })
  return { what: `with ${what}`, fault: `id: ${fault}`, change: withId }
}

const otherDigit = (digit: string): string => (digit === '0' ? '1' : '0')

/** A server may compare only a part of an id. */
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
      ...likeJob.map(([what, change]) =>
        idCase(`the id of a job ${what}`, 'like another', (id) => nobodys(id, change(id))),
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

const noUuid = (id: string): Case => idCase('an id that is not a uuid', 'another form', () => id)

/** An existing id shortened (a server may find ids by prefix), lengthened, or with an SQL wildcard; other text. */
export const malformedId = byCases(
  (one) => [
    ...[1, 2, 3, 4, 5, 6, 7, 8]
      .filter((cut) => cut < (one.valid.params['job_id'] ?? '').length)
      .map((cut) =>
        idCase(`an existing id that is cut by ${cut}`, 'cut', (id) => id.slice(0, -cut)),
      ),
    idCase('an existing id and a character more', 'lengthened', (id) => `${id}x`),
    idCase('an existing id, its last character _', 'wildcard', (id) => `${id.slice(0, -1)}_`),
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

/** Texts that servers often fail on. */
const awkward = [
  ...[
    '😀 🏳️‍🌈',
    'שלום مرحبا',
    '"quoted" and \\ back',
    '%s %20 {} ${x} {{y}}',
    "<b>&amp;</b> '; --",
    'a\tb\nc',
    '\u0001\u007f',
    'a\u0000b',
    ' at both ends ',
    'two\r\nlines\u2028and more',
    '1234567890',
    '__proto__',
    `tea${plainer}`,
    `tea${characters}`,
  ],
  'long '.repeat(400),
]

type Texts = readonly string[]

export async function takesAnyText(context: CheckContext): Promise<Verdict> {
  const { client, given, requirement } = context
  const { options, target } = given
  const application = target.resources.application
  if (!application) throw new NotExercised('declare resources.application')
  const granted = await grantedControl(client, given, 'jobs.create')
  context.control = granted.state
  const ruleOf = (texts: Texts): CaseRule => {
    const inputs = application.inputs.map((input) => ({ ...input, value: texts }))
    const source = grantedProbe(context, 'jobs.create', async () => ({
      ...(await jobRequest(given, { ...application, inputs })),
      fault: texts.join() === '' ? 'empty @ /inputs/*/value/*' : undefined,
    }))
    // Of the right type, but a crash on it is a crash on user input.
    const request = requestFor(context, JSON.stringify(texts), source, { badInput: true })
    const judge = answerRule(context, request, (exchange) => {
      const { status } = exchange.response!
      if (status < 500) return { outcome: 'held', cases: 1, isGranted: status < 300 }
      const expected = 'any answer except a 5xx, whatever the inputs contain'
      const what = `with the inputs ${preview(texts)}`
      return { outcome: 'broken', evidence: { exchange, what, expected } }
    })
    return { judge }
  }
  /** Sends all texts in one request. If the server refuses it, sends each alone: one refused text hides the others. */
  const all = (texts: Texts, each: (journal: Journal) => readonly CaseVerdict[]) => {
    const whole = ruleOf(texts)
    return allOf([], {
      generated(journal) {
        const together = whole.judge(journal)
        const { outcome } = together
        const isEnough = outcome === 'held' ? together.isGranted : outcome !== 'broken'
        if (isEnough) return [together]
        const alone = each(journal)
        return alone.every((one) => one.outcome === 'held') ? [...alone, together] : alone
      },
    })
  }
  if (context.scenario)
    return inScenario(context, 'jobs.create', () => settle(client, allOf([ruleOf(['text'])])))
  const alone = awkward.map((text) => ruleOf([text]))
  const rules = [all(awkward, (journal) => judgeSome(alone, journal, 1))]
  if (options.depth === 'full') {
    const search = {
      arbitrary: anyText(40),
      ...{ seed: seedFor(given, requirement.id), numRuns: options.grantedRuns },
      ruleOf: (text: string) => ruleOf([text]),
    }
    const drawn = fc.sample(search.arbitrary, search)
    // The empty text goes alone, since many servers refuse it.
    rules.push(allOf([ruleOf([''])]), all(drawn, generatedBy(search)))
  }
  let cases = 0
  for (const rule of rules) {
    const verdict = await settle(client, rule)
    cases += verdict.cases ?? 0
    const [crash] = verdict.outcome === 'broken' ? verdict.evidence : []
    const why = crash && (await whyNotOfInput(client, given, crash.exchange))
    if (why !== undefined) return { outcome: 'open', cases, why }
    if (verdict.outcome !== 'held') return verdict
  }
  return { outcome: 'held', cases }
}
