import { triesOf } from '../../catalogue/operations.ts'
import { controlExchange } from '../../harness/checks/control.ts'
import { granted, judgeTries } from '../../harness/checks/granted.ts'
import { judgeGranted } from '../../harness/engine/judge-answer.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import { validRequest } from '../../harness/checks/valid-request.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { Failed } from '../../harness/engine/outcome.ts'
import type { Judge, CheckContext } from '../../harness/engine/check-context.ts'

const valid = 'with a valid request'

function judgeContent(context: CheckContext, exchange: Exchange): void {
  judgeGranted(context, exchange, 'a 2xx with choices[0].message.content', valid)
  judgeShape(context, exchange, 'chat-completion', valid)
}

export const judgeCompletion: Judge = async (context) => {
  try {
    judgeContent(context, await controlExchange(context.run, 'chat.create'))
  } catch (error) {
    if (!(error instanceof Failed) || !error.failure.exchange?.response) throw error
    // Generated answers vary: a later one may have what the control's lacked.
    const make = () => validRequest(context.run, 'chat.create')
    await judgeTries(context, { make, what: valid, check: judgeContent, tries: triesOf('chat.create') - 1 })
  }
}

/** Only a scenario says that the tool runs. */
export const judgeLlmTool = granted('with an llm tool', undefined, (context, exchange) =>
  judgeShape(context, exchange, 'llm-tool-completion', 'with an llm tool'),
)
