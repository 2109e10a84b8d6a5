const applications = ['#other-application', '#slow-application', '#failing-application']

/** A row that is broken for the jobs of one application alone, or for the job that the target file declares. */
function placesOf(row: string): readonly string[] {
  // What was created before the server began can be compared with no creation response.
  const places = row === '200-created-at' ? applications : [...applications, '#declared-job']
  return places.map((place) => `jobs.retrieve/${row}${place}`)
}

/** Defects of granted requests about jobs, and further ones of refused creations. */
export const jobDefects: readonly string[] = [
  'jobs.create/202-created',
  ...[
    '#id',
    '#no-id',
    '#job-status',
    '#no-job-status',
    '#created-at',
    '#no-created-at',
    '#later',
    '#answer-lost',
    '#second-5xx',
  ].map((name) => `jobs.create/202-created${name}`),
  'jobs.create/202-retrievable',
  'jobs.create/202-retrievable#late',
  'jobs.create/202-required-inputs-only',
  'jobs.create/202-required-inputs-only#5xx',
  ...['', '#emoji', '#nul', '#backslash', '#empty', '#blank'].map((name) => `jobs.create/202-any-text${name}`),
  ...['null', 'boolean', 'number', 'string', 'array'].map(
    (type) => `jobs.create/400-malformed-inputs#ignores-item-${type}`,
  ),
  ...['null', 'boolean', 'number', 'array', 'object'].map(
    (type) => `jobs.create/400-malformed-inputs#ignores-id-${type}`,
  ),
  'jobs.create/400-malformed-inputs#ignores-later-items',
  'jobs.create/400-malformed-inputs#ignores-later-texts',
  ...['#parallel', '#identical-only', '#slow-only', '#plain-only'].map(
    (name) => `jobs.create/409-job-in-progress${name}`,
  ),
  // Only in a part of the job's life.
  ...['#at-once-only', '#later-only', '#unread-only', '#read-only'].map(
    (name) => `jobs.create/409-job-in-progress${name}`,
  ),
  'jobs.create/409-released',
  'jobs.create/409-released#slow',
  'jobs.create/409-released#after-failed',
  'jobs.create/409-released#after-third',
  'jobs.create/409-per-application',
  'jobs.create/409-atomic',
  'jobs.create/409-atomic#short',
  'jobs.create/409-atomic#slow-only',
  ...['', '#starts-job', '#blocks', '#unauthorized', '#required-input', '#other-key'].map(
    (name) => `jobs.create/4xx-no-effect${name}`,
  ),
  'jobs.retrieve/200-job',
  ...[
    '#updated-at',
    '#updated-at-blank',
    '#updated-at-offset',
    '#updated-at-colon',
    '#completed-at',
    '#data',
    '#data-array',
    '#error',
    '#null-members',
    '#status',
    '#ended-status',
    '#id',
    '#no-application-id',
    '#no-created-at',
    '#second-5xx',
  ].map((name) => `jobs.retrieve/200-job${name}`),
  'jobs.retrieve/200-identity',
  'jobs.retrieve/200-identity#id',
  'jobs.retrieve/200-identity#one-id',
  'jobs.retrieve/200-identity#newest-job',
  'jobs.retrieve/200-created-at',
  'jobs.retrieve/200-created-at#drifting',
  ...['#same-for-all', '#backwards', '#newest-job'].map((name) => `jobs.retrieve/200-created-at${name}`),
  ...['200-job', '200-identity', '200-created-at', '200-stable'].flatMap((row) => placesOf(row)),
  ...['', '#slow', '#failing'].map((name) => `jobs.retrieve/200-outcome${name}`),
  'jobs.retrieve/200-failed',
  'jobs.retrieve/200-failed#error',
  'jobs.retrieve/200-stable',
  'jobs.retrieve/200-stable#status',
]
