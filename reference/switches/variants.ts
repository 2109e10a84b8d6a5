import { alternatives } from './pairs.ts'

const ways = (subject: string, ...names: readonly string[]): string[] => names.map((name) => `${subject}/${name}`)

/**
 * Every other way to conform that the reference knows. Several may be on at once if they do not speak of the same
 * thing. Those called `settling/...`, `jobs/readable-late` and `slow/refusals` take as long as the options say. With those called `pdf-removed` and so on the target has to declare the operation as removed.
 */
export const variants: readonly string[] = [
  ...ways('json', 'additional-members', 'members-reversed', 'spread'),
  ...ways('envelope', 'no-errors', 'bare-errors', 'without-key', 'without-description', 'without-item-extras'),
  ...ways('envelope', 'unlisted-keys', 'several-errors', 'full-extras', 'other-language'),
  ...ways('headers', 'charset', 'odd-content-type', 'many'),
  ...ways('connection', 'chunked', 'closed', 'closed-unannounced', 'short-lived', 'reset-when-reused'),
  ...ways('compressed', 'gzip', 'deflate', 'br'),
  ...ways('successes', 'no-content', 'plain-text', 'empty', 'other-2xx', 'json-scalar', 'accepted-creations'),
  ...ways('successes', 'no-content-creations'),
  ...ways('answers', 'large', 'huge'),
  ...ways('lists', 'bare-array'),
  ...ways('aliases', '404', '405', 'page-404'),
  ...ways('spellings', 'served', 'redirected', 'refused', 'page'),
  ...ways('names', 'optional'),
  ...ways('order', 'body-first', 'existence-first', 'existence-before-body', 'state-first', 'rights-last'),
  ...ways('jobs', 'no-optional-members', 'all-members', 'updated-before-created', 'updated-when-created'),
  ...ways('jobs', 'updated-at-moves'),
  ...ways('jobs', 'born-completed', 'born-failed', 'instant', 'fail-now-and-then', 'readable-late', 'texts-limited'),
  ...ways('jobs', 'values-limited', 'others-now-and-then'),
  ...ways('uuids', 'upper-case', 'upper-case-in-creation', 'upper-case-in-retrieval'),
  ...ways('dates', 'offset', 'negative-offset', 'unknown-offset', 'long-fraction', 'short-fraction', 'whole-seconds'),
  ...ways('dates', 'lower-case', 'coarser-in-retrieval', 'two-readings', 'two-readings-earlier'),
  ...ways('clock', 'hours-behind', 'hours-ahead'),
  ...ways('ids', 'numeric', 'json-number', 'long', 'upper-case'),
  ...ways('requests', 'unknown-members-rejected', 'nulls-rejected', 'values-coerced'),
  ...ways('generation', 'empty', 'varying', 'blocked-now-and-then', 'input-blocked-now-and-then'),
  'generation/model-fails-now-and-then',
  'generation/provider-blocked-now-and-then',
  ...ways('models', 'other-statuses'),
  ...ways('tokens', 'below-zero-granted', 'below-zero-bad-request'),
  ...ways('processing', 'slow'),
  ...ways('settling', 'uploads', 'graphs', 'applications'),
  ...ways('graphs', 'empty-not-queried'),
  ...ways('keys', 'told-by-parts'),
  ...ways('applications', 'inputs-demanded'),
  ...ways('slow', 'refusals'),
  ...ways('files', 'known-by-content'),
  ...ways('throttled', '429', '429-seconds', '429-date', '503', '503-seconds'),
  ...ways('unknown-path', '400', '401', '403'),
  ...ways('methods', '400', '405', 'lists'),
  ...['pdf-removed', 'pdf-removed-404', 'pdf-removed-page-404', 'pdf-removed-page-410'],
  ...alternatives.map((alternative) => alternative.name),
]
