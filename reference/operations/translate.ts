import type { Call } from '../world/call.ts'
import { lengthened } from '../world/ids.ts'
import { generated } from '../world/models.ts'
import type { Operation } from '../world/operation.ts'
import { planOf } from '../world/plan.ts'

const languages = new Set(['de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pt'])

function check(call: Call): void {
  const { text, source, target } = call.body
  for (const [kind, language] of Object.entries({ source, target })) {
    if (typeof language !== 'string' || !languages.has(language)) {
      call.refuse('400-unsupported-language', 400, 'BadRequest', {
        description: `No ${kind} ${String(language)}`,
        kind: typeof language === 'string' ? [kind, ...lengthened(language, languages)] : [kind, 'type'],
      })
    }
  }
  if (typeof text !== 'string') call.refuse('400-malformed-text', 400, 'InvalidInputParameters')
  if (text === '') call.refuse('400-empty-text', 400, 'InvalidInputParameters')
  if (text.length > planOf(call).text) call.refuse('400-text-too-long', 400, 'InvalidInputParameters')
  // Semantically invalid (§7.2): there is nothing to translate.
  if (source === target) call.refuse('general/422-unprocessable', 422, 'UnprocessableEntity')
}

/** §4.4 */
export const translate: Operation = {
  id: 'translate.run',
  method: 'POST',
  paths: ['/v1/translate'],
  body: 'json',
  members: ['text', 'source', 'target'],
  check,
  run: (call) => ({
    status: 200,
    body: { text: generated(call, `[${String(call.body['target'])}] ${String(call.body['text'])}`) },
  }),
  grant: () => ({ status: 200, body: { text: '' } }),
}
