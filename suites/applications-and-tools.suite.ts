import { jsonOf } from '../harness/engine/probe.ts'
import {
  anyBadRequest,
  badRequest,
  invalidContent,
  invalidInput,
  oversized,
  unavailable,
} from '../harness/checks/common.ts'
import { controlExchange } from '../harness/checks/control.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import { getAt } from '../schemas/pointer.ts'
import { accepted } from '../harness/checks/granted.ts'
import { judgeGranted } from '../harness/checks/judge.ts'
import { judgeShape } from '../harness/checks/shapes.ts'
import { refusals, scenario } from '../harness/checks/refusals.ts'
import { must } from '../harness/checks/registry.ts'
import { empty, faultsAt, notText, ofOtherTypes, pointerOf, unknownAt } from '../harness/checks/roles.ts'
import { duplicateName, malformedName } from './names.ts'

// Applications and tools (§4.4, §7.3)

accepted('applications.create')

// prettier-ignore
refusals('applications.create', [
  { id: 'applications.create/400-malformed-parameters', when: malformedName, gives: badRequest },
  { id: 'applications.create/400-invalid-blueprint',    when: scenario,      gives: invalidInput },
  { id: 'applications.create/400-duplicate-name',       when: duplicateName, gives: badRequest },
])

accepted('ai-detect.run')

// prettier-ignore
refusals('ai-detect.run', [
  { id: 'ai-detect.run/400-empty-text',     when: faultsAt({ role: 'text', faults: empty }),                 gives: badRequest },
  { id: 'ai-detect.run/400-malformed-text', when: faultsAt({ role: 'text', faults: ofOtherTypes(notText) }), gives: badRequest },
  { id: 'ai-detect.run/400-text-too-long',  when: scenario,                                                  gives: oversized },
])

accepted('web-search.run')

// prettier-ignore
refusals('web-search.run', [
  { id: 'web-search.run/400-empty-query',     when: faultsAt({ role: 'query', faults: empty }),                 gives: badRequest },
  { id: 'web-search.run/400-malformed-query', when: faultsAt({ role: 'query', faults: ofOtherTypes(notText) }), gives: badRequest },
  { id: 'web-search.run/400-query-too-long',  when: scenario,                                                   gives: oversized },
  { id: 'web-search.run/503-search-down',     when: scenario,                                                   gives: unavailable },
])

must('medical.comprehend/200-entities', async (story) => {
  const { run } = story
  const exchange = await controlExchange(run, 'medical.comprehend')
  judgeGranted(story, exchange, 'a 2xx with entities', 'with response_type Entities')
  const pointer = pointerOf(run, 'medical.comprehend', 'response_type') ?? '/response_type'
  if (getAt(jsonOf(exchange.probe), pointer) !== 'Entities') {
    throw new NotExercised('declare a body of medical.comprehend with response_type Entities')
  }
  judgeShape(story, exchange, 'medical-entities', 'with response_type Entities')
})

refusals('medical.comprehend', [
  {
    id: 'medical.comprehend/400-malformed-request',
    when: faultsAt({ role: 'content', faults: ofOtherTypes(notText) }),
    gives: anyBadRequest,
  },
])

accepted('translate.run')

// prettier-ignore
refusals('translate.run', [
  { id: 'translate.run/400-unsupported-language', when: unknownAt('source', 'target'),                               gives: badRequest },
  { id: 'translate.run/400-empty-text',           when: faultsAt({ role: 'text', faults: empty }),                 gives: invalidInput },
  { id: 'translate.run/400-malformed-text',       when: faultsAt({ role: 'text', faults: ofOtherTypes(notText) }), gives: [[400, 'InvalidInputParameters', 'BadRequest']] },
  { id: 'translate.run/400-text-too-long',        when: scenario,                                                  gives: oversized },
  { id: 'translate.run/503-unavailable',          when: scenario,                                                  gives: unavailable },
])

accepted('vision.analyze')

const notVariables = ofOtherTypes(['string', 'number', 'boolean', 'object'])

// prettier-ignore
refusals('vision.analyze', [
  { id: 'vision.analyze/400-malformed-request', when: faultsAt({ role: 'prompt', faults: ofOtherTypes(notText) }, { role: 'variables', faults: notVariables }), gives: anyBadRequest },
  { id: 'vision.analyze/400-unsupported-image', when: scenario, gives: badRequest },
  { id: 'vision.analyze/400-oversized-image',   when: scenario, gives: oversized },
  { id: 'vision.analyze/400-corrupted-image',   when: scenario, gives: invalidContent },
  { id: 'vision.analyze/503-unavailable',       when: scenario, gives: unavailable },
])
