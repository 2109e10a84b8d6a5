import { requirements, scenario } from './requirement.ts'

// prettier-ignore
export const guardrails = requirements('guardrails', [
  { id: '400-blocked', level: 'must', section: '7.1, 7.3', needs: [scenario], expects: [[400, 'GuardrailBlockedError', 'BadRequest']],
    statement: 'Input or output that a guardrail blocks is answered 400 GuardrailBlockedError or BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type.' },
  { id: '400-blocked-by-provider', level: 'must', section: '7.1, 7.3', needs: [scenario], expects: [[400, 'BadRequest']],
    statement: "Content that a provider's guardrail blocks is answered 400 BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type." },
  { id: '401-provider-credentials', level: 'must', section: '5, 7.3', needs: [scenario], expects: [[401, 'BadCredentials']],
    statement: 'Invalid credentials of a guardrail provider are answered 401 BadCredentials.' },
  { id: '403-provider-permissions', level: 'must', section: '7.3', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'Missing permissions at a guardrail provider are answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-guardrail', level: 'must', section: '7.3', needs: [scenario], expects: [[404, 'ResourceNotFound']],
    statement: 'An invalid guardrail id, version or provider address is answered 404 ResourceNotFound.' },
  { id: '500-provider-error', level: 'must', section: '7.3', needs: [scenario], expects: [[500, 'InternalError']],
    statement: 'A communication error of a guardrail provider is answered 500 InternalError.' },
  { id: '503-provider-down', level: 'must', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']],
    statement: 'While a guardrail provider is down, a request is answered 503 InternalError.' },
])
