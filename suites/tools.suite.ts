import { accepted, againAtEnd } from '../harness/checks/granted.ts'
import { at, eachAt, empty, notText, ofOtherTypes, pointerOf, unknownAt } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'
import { controlExchange } from '../harness/checks/control.ts'
import { judgeGranted } from '../harness/engine/judge-response.ts'
import { judgeShape } from '../harness/checks/shapes.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import { jsonOf } from '../harness/engine/probe.ts'
import type { Judge } from '../harness/engine/check-context.ts'
import { getAt } from '../schemas/json.ts'
import { condition } from '../harness/checks/refusals.ts'

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
  const pointer = pointerOf(run, 'medical.comprehend', 'response_type') ?? '/response_type'
  if (getAt(jsonOf(exchange.probe), pointer) !== 'Entities') {
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
