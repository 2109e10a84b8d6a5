import type { Judge } from '../harness/engine/index.ts'
import { Failed, isGranted, jsonOf, judgeGranted, judgeShape, NotExercised } from '../harness/engine/index.ts'
import type { JsonKind } from '../catalogue/operation.ts'
import type { RefusalContext } from '../harness/checks/index.ts'
import {
  accepted,
  againAtEnd,
  at,
  atRole,
  condition,
  controlExchange,
  eachAt,
  empty,
  giving,
  kindOf,
  notText,
  ofOtherTypes,
  pointerOf,
  sendPastBlocks,
  suite,
  unknownAt,
  valueAt,
} from '../harness/checks/index.ts'
import { getAt } from '../schemas/json.ts'
import { anyBadRequest } from '../catalogue/requirement.ts'

const kinds: readonly JsonKind[] = ['string', 'number', 'boolean', 'array', 'object']

/** The declared parameter, of a JSON type other than that of its declared value. */
const otherParameter = condition(async (refusal) => {
  const { context, operation, valid } = refusal
  const pointer = pointerOf(context.run, operation, 'parameter')
  const declared = pointer === undefined ? undefined : getAt(jsonOf(await valid()), pointer)
  // null may mean that it is absent.
  if (declared === undefined || declared === null)
    throw new NotExercised(
      `put a value at ${pointer ?? 'the role parameter'} into operations.completion.create.body: it is sent as another type`,
    )
  const own = kindOf(declared)
  // A server may take one text or several.
  const others = kinds.filter((kind) => kind !== own && [kind, own].sort().join() !== 'array,string')
  if (own === 'number') return notNumberAt('parameter', refusal)
  await at('parameter', ofOtherTypes(others)).bringAbout(refusal)
})

/**
 * A server may coerce values: `true` for a number. It then reads a number in a text too, which is sent only if a boolean was
 * granted; a server that takes the one and refuses the other does not look.
 */
async function notNumberAt(role: string, refusal: RefusalContext): Promise<void> {
  await at(role, ofOtherTypes(['string', 'array', 'object'])).bringAbout(refusal)
  try {
    await at(role, ofOtherTypes(['boolean'])).bringAbout(refusal)
  } catch (error) {
    const status = error instanceof Failed ? (error.failure.exchange?.response?.status ?? 0) : 0
    const { context, valid } = refusal
    if (status < 200 || status > 299) throw error
    const text = atRole(context.run, await valid(), role, '1')
    const { response } = await sendPastBlocks(() => context.send(text, { role: 'control' }))
    if (response === undefined || !isGranted(response)) throw error
  }
}

/** Stands in the prompt until the bytes take its place. */
const place = 'conform-bad-bytes'

/** Byte sequences that UTF-8 does not have: a lone continuation, a cut sequence, bytes that never occur. */
const sequences: readonly (readonly [string, readonly number[]])[] = [
  ['a lone continuation byte', [0x80]],
  ['a sequence that is cut', [0xc3, 0x28]],
  ['bytes that never occur', [0xff, 0xfe]],
]

/** A prompt that is no UTF-8. */
const badEncoding = condition(async ({ context, valid, judge }) => {
  for (const [what, bytes] of sequences) {
    const probe = atRole(context.run, await valid(), 'prompt', place)
    const [before = '', after = ''] = String(probe.body).split(place)
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
    await judge(
      { ...probe, body, fault: 'value @ {prompt}' },
      `with a valid body, but a prompt in invalid UTF-8 (${what})`,
    )
  }
})

// Text generation (§7.3)

export const completionCreate = suite('completion.create', {
  '2xx-accepted': accepted,
  '400-unsupported-model': unknownAt('model'),
  '400-malformed-request': eachAt(
    { role: 'model', faults: ofOtherTypes(['number', 'boolean', 'array', 'object']) },
    { role: 'prompt', faults: giving(anyBadRequest, notText) },
  ),
  '400-empty-prompt': at('prompt', empty),
  '400-bad-encoding': badEncoding,
  '400-invalid-temperature': condition((refusal) => notNumberAt('temperature', refusal)),
  '400-invalid-max-tokens': condition((refusal) => notNumberAt('max_tokens', refusal)),
  '400-invalid-parameter': otherParameter,
})

// AI detection (§4.4, §7.3)

export const aiDetectRun = suite('ai-detect.run', {
  '2xx-accepted': accepted,
  '400-empty-text': at('text', empty),
  '400-malformed-text': at('text', notText),
})

// Web search (§4.4, §7.3)

export const webSearchRun = suite('web-search.run', {
  '2xx-accepted': accepted,
  '400-empty-query': at('query', empty),
  '400-malformed-query': at('query', notText),
})

/** The shape of entities is shown of response_type Entities only (§2.8). */
const judgeEntities: Judge = async (context) => {
  const { run } = context
  const what = 'with response_type Entities'
  const exchange = await controlExchange(run, 'medical.comprehend')
  judgeGranted(context, exchange, 'a 2xx with entities', what)
  if (valueAt(run, 'medical.comprehend', 'response_type', jsonOf(exchange.probe)) !== 'Entities') {
    throw new NotExercised('declare a body of medical.comprehend with response_type Entities')
  }
  judgeShape(context, exchange, 'medical-entities', what)
  againAtEnd(context, (_, again) => judgeShape(context, again, 'medical-entities', what))
}

// Medical text analysis (deprecated; §2.8)

export const medicalComprehend = suite('medical.comprehend', {
  '200-entities': judgeEntities,
  '400-malformed-request': at('content', notText),
})

/** A word that is no language, and values that are no text. */
const unsupportedLanguage = condition(async (refusal) => {
  await unknownAt('source', 'target').bringAbout(refusal)
  const faults = ofOtherTypes(['number', 'boolean', 'array', 'object'])
  await eachAt({ role: 'source', faults }, { role: 'target', faults }).bringAbout(refusal)
})

// Translation (§4.4, §7.3)

export const translateRun = suite('translate.run', {
  '2xx-accepted': accepted,
  '400-unsupported-language': unsupportedLanguage,
  '400-empty-text': at('text', empty),
  '400-malformed-text': at('text', notText),
})

// Image analysis (§2.8, §7.3)

export const visionAnalyze = suite('vision.analyze', {
  '2xx-accepted': accepted,
  '400-malformed-request': eachAt(
    { role: 'prompt', faults: notText },
    { role: 'variables', faults: ofOtherTypes(['string', 'number', 'boolean', 'object']) },
  ),
})
