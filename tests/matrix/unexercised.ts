import { catalogue } from '../../catalogue/catalogue.ts'

const ofFiles = ['files.list/2xx-filtered', 'files.retrieve/2xx-own-record']
const makers = ['files.upload', 'graphs.create', 'applications.create']

const hidden: Record<string, string[]> = {}
function under(variants: string, ids: readonly string[]): void {
  for (const name of variants.split(' ')) (hidden[name] ??= []).push(...ids)
}
// No message has a key of §7.1.
under('envelope/no-errors envelope/bare-errors envelope/without-key envelope/unlisted-keys', [
  'envelope/message-keys',
])
// An empty text is no JSON.
under('generation/empty', ['chat.create/200-structured-output'])
// No job is in progress when the next request arrives.
under(
  'jobs/born-completed jobs/born-failed jobs/instant',
  ['job-in-progress', 'released', 'per-application', 'atomic'].map(
    (name) => `jobs.create/409-${name}`,
  ),
)
// No answer tells anything of a file.
under(
  'successes/no-content successes/plain-text successes/empty successes/other-2xx successes/json-scalar',
  ofFiles,
)
// No answer says the id of what was made, so that no fresh file can be added either.
under('successes/no-content-creations', [
  ...ofFiles,
  ...['files.upload/2xx-attached-to-graph', 'files.upload/2xx-retrievable'],
  ...['graphs.create/2xx-usable', 'applications.create/2xx-usable'],
  ...makers.map((operation) => `${operation}/2xx-own-id`),
  ...catalogue.map(({ id }) => id).filter((id) => id.startsWith('graphs.add-file/')),
])

/** By variant, requirements that cannot be judged under it: it conforms, and gives no evidence. */
export const unexercised: Readonly<Record<string, readonly string[]>> = hidden
