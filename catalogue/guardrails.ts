import { rows, scenario } from './row.ts'

// prettier-ignore
export const guardrails = rows('guardrails', [
  { id: '400-blocked', level: 'must', section: '7.1, 7.3', needs: [scenario], gives: [[400, 'GuardrailBlockedError', 'BadRequest']],
    says: 'Input or output that a guardrail blocks is answered 400 GuardrailBlockedError or BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type.' },
  { id: '400-blocked-by-provider', level: 'must', section: '7.1, 7.3', needs: [scenario], gives: [[400, 'BadRequest']],
    says: "Content that a provider's guardrail blocks is answered 400 BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type." },
  { id: '401-provider-credentials', level: 'must', section: '5, 7.3', needs: [scenario], gives: [[401, 'BadCredentials']],
    says: 'Invalid credentials of a guardrail provider are answered 401 BadCredentials.' },
  { id: '403-provider-permissions', level: 'must', section: '7.3', needs: [scenario], gives: [[403, 'InsufficientAccessRights']],
    says: 'Missing permissions at a guardrail provider are answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-guardrail', level: 'must', section: '7.3', needs: [scenario], gives: [[404, 'ResourceNotFound']],
    says: 'An invalid guardrail id, version or provider address is answered 404 ResourceNotFound.' },
  { id: '500-provider-error', level: 'must', section: '7.3', needs: [scenario], gives: [[500, 'InternalError']],
    says: 'A communication error of a guardrail provider is answered 500 InternalError.' },
  { id: '503-provider-down', level: 'must', section: '7.3', needs: [scenario], gives: [[503, 'InternalError']],
    says: 'While a guardrail provider is down, a request is answered 503 InternalError.' },
])
