import { catalogue } from '../../catalogue/catalogue.ts'

/** Requirements that cannot be judged under a variant of the reference: it conforms, and gives no evidence. */
export interface Unexercised {
  readonly ids: readonly string[]
  readonly because: string
}

const noKeys: Unexercised = {
  ids: ['envelope/message-keys'],
  because: 'no message has a key of §7.1',
}

const noConflicts: Unexercised = {
  ids: [
    'jobs.create/409-job-in-progress',
    'jobs.create/409-released',
    'jobs.create/409-per-application',
    'jobs.create/409-atomic',
  ],
  because: 'no job is in progress when the next request arrives',
}

const additions = catalogue
  .map(({ id }): string => id)
  .filter((id) => id.startsWith('graphs.add-file/'))

const ownIds = ['files.upload', 'graphs.create', 'applications.create'].map(
  (operation) => `${operation}/2xx-own-id`,
)

const nothingOfFiles: Unexercised = {
  ids: ['files.list/2xx-filtered', 'files.retrieve/2xx-own-record'],
  because: 'no answer tells anything of a file',
}

/** By variant. Under all others every requirement is exercised. */
export const unexercised: Readonly<Record<string, Unexercised>> = {
  'envelope/no-errors': noKeys,
  'envelope/bare-errors': noKeys,
  'envelope/without-key': noKeys,
  'envelope/unlisted-keys': noKeys,
  'jobs/born-completed': noConflicts,
  'jobs/born-failed': noConflicts,
  'jobs/instant': noConflicts,
  ...Object.fromEntries(
    ['no-content', 'plain-text', 'empty', 'other-2xx', 'json-scalar'].map((name) => [
      `successes/${name}`,
      nothingOfFiles,
    ]),
  ),
  'answers/huge': {
    ids: ['files.list/2xx-filtered'],
    because: 'a listing is too long to be read',
  },
  'successes/no-content-creations': {
    ids: [
      ...nothingOfFiles.ids,
      ...[
        'files.upload/2xx-attached-to-graph',
        'files.upload/2xx-retrievable',
        'graphs.create/2xx-usable',
      ],
      ...['applications.create/2xx-usable', ...ownIds, ...additions],
    ],
    because: 'no answer says the id of what was made, so that no fresh file can be added either',
  },
}
