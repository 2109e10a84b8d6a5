import { controlExchange } from '../harness/checks/control.ts'
import { againAtEnd } from '../harness/checks/granted.ts'
import { judgeGranted } from '../harness/engine/judge-response.ts'
import { pointerOf, at, notText } from '../harness/checks/roles.ts'
import { judgeShape } from '../harness/checks/shapes.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import { jsonOf } from '../harness/engine/probe.ts'
import type { Judge } from '../harness/engine/check-context.ts'
import { getAt } from '../schemas/pointer.ts'
import { suite } from '../harness/checks/suite.ts'

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
