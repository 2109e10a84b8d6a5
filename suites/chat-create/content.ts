import { getAt } from '../../schemas/pointer.ts'
import { jsonValue } from '../../harness/engine/response.ts'
import { judgeGranted } from '../../harness/engine/judge-response.ts'
import type { GrantedCheck } from '../../harness/checks/granted.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'

/** §2.8: a 2xx that has `choices[0].message.content`, a string. */
export function hasContent(what: string): GrantedCheck {
  return (context, exchange) => {
    judgeGranted(context, exchange, 'a 2xx with choices[0].message.content', what)
    judgeShape(context, exchange, 'chat-completion', what)
  }
}

/** As `hasContent`, unless the model calls a tool in place of an answer. */
export function hasContentOrCalls(what: string): GrantedCheck {
  return (context, exchange) => {
    const calls = getAt(jsonValue(exchange.response), '/choices/0/message/tool_calls')
    if (!Array.isArray(calls) || calls.length === 0) hasContent(what)(context, exchange)
  }
}
