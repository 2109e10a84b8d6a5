import { badRequest, forbidden, invalidInput, notFound, oversized } from '../harness/checks/common.ts'
import { unknown } from '../harness/checks/conditions.ts'
import { accepted } from '../harness/checks/granted.ts'
import { refusals, scenario } from '../harness/checks/refusals.ts'
import { must } from '../harness/checks/registry.ts'
import { faultsAt, notText, ofOtherTypes } from '../harness/checks/roles.ts'
import { insideSends, judgeInside, outsideBounds } from './query-config.ts'
import { duplicateName, malformedName } from './names.ts'
import { twice } from './graphs/twice.ts'

// Knowledge graphs (§2.7, §4.4, §7.3)

accepted('graphs.create')

// prettier-ignore
refusals('graphs.create', [
  { id: 'graphs.create/400-malformed-parameters', when: malformedName, gives: badRequest },
  { id: 'graphs.create/400-invalid-name',         when: scenario,      gives: invalidInput },
  { id: 'graphs.create/400-duplicate-name',       when: duplicateName, gives: badRequest },
])

accepted('graphs.add-file')

// prettier-ignore
refusals('graphs.add-file', [
  { id: 'graphs.add-file/400-unsupported-type', when: scenario,            gives: badRequest },
  { id: 'graphs.add-file/400-unparsable',       when: scenario,            gives: invalidInput },
  { id: 'graphs.add-file/403-graph-access',     when: scenario,            gives: forbidden },
  { id: 'graphs.add-file/404-unknown-graph',    when: unknown('graph_id'), gives: notFound },
  { id: 'graphs.add-file/409-already-in-graph', when: twice,               gives: [[409, 'BadRequest']] },
])

accepted('graphs.query')
must('graphs.query/2xx-query-config', judgeInside('graphs.query', 1), insideSends)

// prettier-ignore
refusals('graphs.query', [
  { id: 'graphs.query/400-query-config',         when: outsideBounds,       gives: [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType']] },
  { id: 'graphs.query/400-malformed-parameters', when: faultsAt({ role: 'query', faults: ofOtherTypes(notText) }), gives: badRequest },
  { id: 'graphs.query/400-too-complex',          when: scenario,            gives: oversized },
  { id: 'graphs.query/403-graph-access',         when: scenario,            gives: forbidden },
  { id: 'graphs.query/404-unknown-graph',        when: unknown('graph_id'), gives: notFound },
])
