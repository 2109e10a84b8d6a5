/** Every rule about jobs as a table of histories: no server, no clock. */
import { describe, expect, test } from 'vitest'
import { createHistory } from '../../harness/journal/journal.ts'
import { inProgressWithOthers } from '../../suites/jobs/conflicts.ts'
import { jobRules } from '../../suites/jobs/rules.ts'
import { historyOf } from './stories.ts'

type Id = keyof typeof jobRules
type Outcome = 'held' | 'broken' | 'open'

const judge = (id: Id, story: string, isRecorded = false) =>
  jobRules[id].rule(historyOf(story, isRecorded))

const busy = `
  0 a: 202 j1
  20 j1: in_progress`

/** A job from creation to end, that many ms after the beginning of the story. */
const job = (name: string, from: number, on = 'a'): string => `
  ${from} ${on}: 202 ${name}
  ${from + 10} ${name}: in_progress
  ${from + 20} ${name}: completed`

/** Creations that are answered 409, a second apart. */
const refusals = (from: number, times: number, on = 'a'): string =>
  Array.from({ length: times }, (_, at) => `${from + 1000 * at} ${on}: 409`).join('\n')

/** Creations on an application that are refused while another one has a job, and granted after that. */
const blocked = (times: number, on = 'b', from = 0): string =>
  Array.from({ length: times }, (_, n) => {
    const [at, name] = [(from + n) * 9000, `j${from + n}`]
    return `\n${at} a: 202 ${name}1\n${at + 10} ${on}: 409\n${at + 20} ${name}1: in_progress
      ${at + 30} ${name}1: completed\n${at + 40} ${on}: 202 ${name}2\n${at + 60} ${name}2: completed`
  }).join('')

/** Simultaneous creations that are all refused, and a single one that is accepted that many ms before the next. */
const bursts = (times: number, apartMs = 3000, on = 'a', from = 0): string =>
  Array.from({ length: times }, (_, at) => {
    const start = from + at * (1000 + apartMs)
    return `\n${start}-${start + 10} ${on}: 409\n${start + 1}-${start + 10} ${on}: 409${job(`j${from / 10_000}${at}`, start + 970, on)}`
  }).join('')

/** Short jobs, each with a creation 30 ms after it that is answered so, the attacked ones after a refused creation. */
const short = (answers: string): string =>
  answers
    .trim()
    .split(' ')
    .map((answer, n) => {
      const [at, name, isFreed] = [n * 1000, `j${n}1`, answer.endsWith('202')]
      const attack = answer.startsWith('attacked') ? `${at + 20} a/400-missing-inputs: 400` : ''
      return `${at} a: 202 ${name}\n${at + 10} a: 409\n${attack}\n${at + 30} a: ${isFreed ? `202 j${n}2` : '409'}
        ${at + 40} ${name}: in_progress\n${at + 45} ${name}: completed${isFreed ? `\n${at + 50} j${n}2: completed` : ''}`
    })
    .join('\n')

const table: Partial<Record<Id, [what: string, outcome: Outcome, story: string][]>> = {
  'jobs.create/409-job-in-progress': [
    ['a 409 beside a job', 'held', `${busy}\n30 a: 409\n40 j1: in_progress`],
    ['a second job beside the first', 'broken', `${busy}\n30 a: 202 j2\n40 j1: in_progress`],
    ['one with other values', 'broken', `${busy}\n30 a*: 202 j2\n40 j1: in_progress`],
    ['other values that nobody has to take', 'open', `${busy}\n30 a*: 400\n40 j1: in_progress`],
    ['freed by an attack once: the job may have ended', 'held', short('attacked-202 409')],
    [
      'freed by each of three attacks, and never without',
      'broken',
      short('attacked-202 409 attacked-202 409 attacked-202 409'),
    ],
    [
      'freed by two of three attacks',
      'held',
      short('attacked-202 409 attacked-409 409 attacked-202 409'),
    ],
    [
      'freed by three attacks, and without',
      'held',
      short('attacked-202 202 attacked-202 202 attacked-202 409'),
    ],
    ['a 409 of another name', 'broken', `${busy}\n30 a: 409 Conflict\n40 j1: in_progress`],
    ['a 500 beside a job', 'broken', `${busy}\n30 a: 500 InternalError\n40 j1: in_progress`],
    ['the job may have ended meanwhile', 'open', `${busy}\n30 a: 202 j2\n40 j1: completed`],
    ['nobody knows whether the job goes on', 'open', `${busy}\n30 a: 202 j2`],
    ['a job of another application', 'open', `${busy}\n30 b: 202 j2\n40 j1: in_progress`],
    ['the answer to the first, once more', 'broken', `${busy}\n30 a: 202 j1\n40 j1: in_progress`],
    [
      'a job that cannot be told apart',
      'open',
      `${busy}
      30 a: 202 j1 {"created_at":"2026-03-01T12:00:00.030Z"}\n40 j1: in_progress`,
    ],
    [
      'readings that lag behind after a 409',
      'held',
      `${busy}
      200 a: 409\n400 j1: in_progress\n500 a: 202 j2\n600 j1: in_progress\n800 j1: completed`,
    ],
    [
      'a job that goes on for long after it',
      'broken',
      `${busy}
      200 a: 409\n400 j1: in_progress\n500 a: 202 j2\n1000 j1: in_progress`,
    ],
    [
      'what is read is another job',
      'open',
      `${busy}
      30 a: 202 j2\n40 j1: in_progress {"id":"00000000-0000-4000-8000-000000000000"}`,
    ],
    [
      'what is read has the time of the newer job',
      'open',
      `
      0 a: 202 j1\n30 a: 202 j2\n40 j1: in_progress {"created_at":"2026-03-01T12:00:00.030Z"}`,
    ],
    [
      'in progress again after its end',
      'open',
      `${busy}
      30 j1: completed\n40 a: 202 j2\n50 j1: in_progress`,
    ],
    ['a limit', 'open', `${busy}\n30 a: 429 QuotaExceeded\n40 j1: in_progress`],
    [
      'a limit beside each of three jobs: an account may have one at a time',
      'open',
      ['j1', 'j2', 'j3']
        .map(
          (name, at) => `
      ${at * 100} a: 202 ${name}\n${at * 100 + 10} ${name}: in_progress
      ${at * 100 + 20} a: 429 QuotaExceeded\n${at * 100 + 30} ${name}: in_progress
      ${at * 100 + 40} ${name}: completed`,
        )
        .join(''),
    ],
    ['two that got no answer', 'open', `${busy}\n30 a: -\n40 a: -\n50 j1: in_progress`],
    [
      'three that got no answer',
      'broken',
      `${busy}\n30 a: -\n40 a: -\n50 a: -\n60 j1: in_progress`,
    ],
    [
      'three without an answer and a 409',
      'held',
      `${busy}
      30 a: -\n40 a: -\n50 a: -\n60 a: 409\n70 j1: in_progress`,
    ],
    [
      'all that came together broke down',
      'broken',
      `
      0-9 a: 202 j1\n1-9 a: 500 InternalError\n2-9 a: 500 InternalError\n20 j1: in_progress`,
    ],
    [
      'all but one broke down',
      'held',
      `
      0-9 a: 202 j1\n1-9 a: 500 InternalError\n2-9 a: 409\n20 j1: in_progress`,
    ],
    [
      'an application that is not there yet',
      'open',
      `
      0 a: made\n100 a*: 202 j1\n120 j1: in_progress\n130 a*: 404 ResourceNotFound\n140 j1: in_progress`,
    ],
    ['no job', 'open', '0 a: 409'],
  ],
  'jobs.create/409-atomic': [
    ['one of several is granted', 'held', '0-9 a: 202 j1\n1-9 a: 409\n20 j1: in_progress'],
    [
      'two jobs are in progress',
      'broken',
      `
      0-9 a: 202 j1\n1-9 a: 202 j2\n20 j1: in_progress\n30 j2: in_progress\n40 j1: in_progress`,
    ],
    [
      'the first had ended',
      'open',
      `
      0-9 a: 202 j1\n1-9 a: 202 j2\n20 j1: in_progress\n30 j2: in_progress\n40 j1: completed`,
    ],
    [
      'one came after the other',
      'open',
      `
      0 a: 202 j1\n10 a: 202 j2\n20 j1: in_progress\n30 j2: in_progress\n40 j1: in_progress`,
    ],
    [
      'on two applications',
      'open',
      `
      0-9 a: 202 j1\n1-9 b: 202 j2\n20 j1: in_progress\n30 j2: in_progress\n40 j1: in_progress`,
    ],
  ],
  'jobs.create/409-per-application': [
    [
      'a job elsewhere, and a 409 in the run',
      'held',
      `${busy}
      30 a: 409\n40 b: 202 j2\n50 j1: in_progress`,
    ],
    ['no 409 in the run', 'open', `${busy}\n40 b: 202 j2\n50 j1: in_progress`],
    ['blocked three times', 'broken', blocked(3)],
    ['blocked twice: somebody else may use it', 'open', blocked(2)],
    [
      'blocked three times, for a while after a refusal each: that may be what blocks it',
      'open',
      [1, 2, 3]
        .map(
          (n) => `
      ${n * 9000} a: 202 j${n}1\n${n * 9000 + 5} z/404-unknown-application: 404\n${n * 9000 + 10} b: 409
      ${n * 9000 + 20} j${n}1: in_progress\n${n * 9000 + 30} j${n}1: completed${job(`j${n}2`, n * 9000 + 2000, 'b')}`,
        )
        .join(''),
    ],
    [
      'blocked three times, but not an application that the run made',
      'held',
      `${blocked(3)}\n70000 c: made${job('j80', 70_010, 'c')}\n85000 a: 202 j81\n85010 a: 409
      85020 c: 202 j82\n85040 j81: in_progress`,
    ],
    [
      'blocked three times, there as well',
      'broken',
      `${blocked(3)}\n70000 c: made${job('j80', 70_010, 'c')}${blocked(3, 'c', 9)}`,
    ],
    [
      'blocked three times, and once there: it is looked at again',
      'broken',
      `${blocked(3)}\n70000 c: made${job('j80', 70_010, 'c')}${blocked(1, 'c', 9)}`,
    ],
    [
      'blocked for good: no matter of the other job',
      'open',
      [0, 1, 2]
        .map(
          (at) => `
      ${at * 9000} a: 202 j${at}1\n${at * 9000 + 10} b: 409\n${at * 9000 + 20} j${at}1: in_progress
      ${at * 9000 + 30} j${at}1: completed`,
        )
        .join(''),
    ],
  ],
  'jobs.create/409-released': [
    [
      'one job after the other',
      'held',
      `${busy}\n25 a: 409${job('j2', 100)}\n30 j1: completed${job('j3', 200)}`,
    ],
    ['three 409 after the end', 'broken', `${job('j1', 0)}\n${refusals(100, 3)}`],
    [
      'three 409 after the end, but not on an application that the run made',
      'held',
      `${job('j1', 0)}\n10 a: 409\n${refusals(100, 3)}\n4000 b: made${job('j2', 4010, 'b')}${job('j3', 4100, 'b')}`,
    ],
    [
      'the same for as long as a run waits for a job',
      'broken',
      `${job('j1', 0)}\n10 a: 409\n${refusals(100, 9)}\n4000 b: made${job('j2', 4010, 'b')}${job('j3', 4100, 'b')}`,
    ],
    [
      'two 409 for as long as that',
      'held',
      `${job('j1', 0)}\n10 a: 409\n100 a: 409\n4000 b: made${job('j2', 4010, 'b')}${job('j3', 4100, 'b')}\n9100 a: 409`,
    ],
    [
      'three 409 after the end, and an application that the run made takes no job',
      'broken',
      `${job('j1', 0)}\n${refusals(100, 3)}\n4000 b: made\n4010 b: 400`,
    ],
    [
      'three 409 after the end, there as well',
      'broken',
      `${job('j1', 0)}\n${refusals(100, 3)}\n4000 b: made${job('j2', 4010, 'b')}\n${refusals(4100, 3, 'b')}`,
    ],
    ['one that failed', 'broken', `0 a: 202 j1\n20 j1: failed\n${refusals(100, 3)}`],
    ['two 409 after the end', 'open', `${job('j1', 0)}\n${refusals(100, 2)}`],
    ['three at once', 'open', `${job('j1', 0)}\n100 a: 409\n200 a: 409\n300 a: 409`],
    ['its end was not seen', 'open', `${busy}\n${refusals(100, 3)}`],
    ['an unknown status is no end', 'open', `0 a: 202 j1\n20 j1: done\n${refusals(100, 3)}`],
    ['a creation without an answer', 'open', `${job('j1', 0)}\n90 a: -\n${refusals(100, 3)}`],
    ['a job elsewhere all the time', 'open', `${job('j1', 0)}\n50 b: 202 j2\n${refusals(100, 3)}`],
    [
      'a job elsewhere that blocks nobody',
      'broken',
      `${job('j1', 0)}\n50 b: 202 j2\n60 a: 202 j3\n70 j2: in_progress
      80 a: 409\n90 j3: completed\n${refusals(100, 3)}`,
    ],
  ],
  'jobs.create/4xx-no-effect': [
    [
      'a job after a refusal',
      'held',
      `${job('j1', 0)}\n100 a/400-missing-inputs: 400${job('j2', 200)}`,
    ],
    ['a 409 after each of three', 'broken', looks(['j1', 'j2', 'j3'])],
    ['a 409 after each of two', 'open', looks(['j1', 'j2'])],
    [
      'a 409 after two of three',
      'held',
      `${looks(['j1', 'j2'])}\n20000 a/400-missing-inputs: 400${job('j9', 20_010)}${looks(['j3'], 30_000)}`,
    ],
    ['busy without a refusal, too', 'open', looks(['j1', 'j2', 'j3'], 0, '409')],
    [
      'locked since',
      'broken',
      `${job('j1', 0)}${job('j2', 100)}\n200 a/400-missing-inputs: 400\n${refusals(210, 10)}`,
    ],
    [
      'locked, as after the same refusal elsewhere',
      'open',
      `${job('j1', 0)}${job('j2', 100)}
      200 a/400-missing-inputs: 400\n${refusals(210, 8)}`,
    ],
    [
      'locked, and harmless elsewhere',
      'held',
      `${job('j1', 0)}${job('j2', 100)}
      200 a/400-missing-inputs: 400\n${refusals(210, 10)}\n20000 b/400-missing-inputs: 400${job('j3', 20_010, 'b')}`,
    ],
    [
      'a lost creation may be to blame',
      'open',
      `${job('j1', 0)}${job('j2', 100)}\n150 a: -
      200 a/400-missing-inputs: 400\n${refusals(210, 10)}`,
    ],
  ],
  'jobs.create/202-created': [
    ['a creation', 'held', '0 a: 202 j1'],
    ['one without its time', 'broken', '0 a: 202 j1 {"created_at":null}'],
    ['a 5xx to one of several', 'broken', `${job('j1', 0)}\n100 a: 500 InternalError`],
    ['a 5xx beside a job', 'held', `${busy}\n30 a: 500 InternalError`],
    ['a 409 on an application that was just made', 'open', '0 a: made\n10 a*: 409'],
    ['a job that the platform starts there', 'held', `0 a: made\n10 a*: 409\n1010 a*: 202 j1`],
    ['a 409 there after settleMs', 'broken', '0 a: made\n10 a*: 409\n5010 a*: 409'],
    [
      'a 409 there after settleMs, and a grant later',
      'broken',
      '0 a: made\n10 a*: 409\n5010 a*: 409\n9000 a*: 202 j1',
    ],
    [
      'a first 409 there long after, and after a job',
      'held',
      `0 a: made${job('j1', 10)}\n6000 a: 409`,
    ],
    ['bursts that are all refused', 'broken', bursts(3)],
    ['bursts that are all refused twice', 'held', bursts(2)],
    [
      'bursts of which one is granted',
      'held',
      `${bursts(2)}\n20000-20010 a: 409\n20001-20010 a: 202 j9`,
    ],
    ['bursts soon after the last job', 'held', bursts(3, 1000)],
    [
      'bursts that are refused, but not on an application that the run made',
      'held',
      `${bursts(3)}\n20000 b: made${job('j8', 20_010, 'b')}\n30000-30010 b: 202 j9\n30001-30010 b: 409`,
    ],
    [
      'bursts that are refused there, too',
      'broken',
      `${bursts(3)}\n20000 b: made${job('j8', 20_010, 'b')}${bursts(3, 3000, 'b', 30_000)}`,
    ],
    [
      'a 409 there while another one has a job',
      'held',
      '0 a: made\n5 b: 202 j1\n5010 a*: 409\n5020 j1: in_progress',
    ],
    ['a 409 there beside one that was granted', 'held', '0 a: made\n10-30 a*: 409\n12 a*: 202 j1'],
    [
      'a 409 there after a refused creation',
      'open',
      '0 a: made\n10 a/400-missing-inputs: 400\n5020 a*: 409',
    ],
    ['a 409 on a declared one', 'open', '10 a: 409'],
    ['a 409 after a lost creation', 'open', '0 a: made\n10 a*: -\n5020 a*: 409'],
  ],
  'jobs.create/202-retrievable': [
    ['found at once', 'held', busy],
    ['found later', 'held', '0 a: 202 j1\n10 j1: 404 ResourceNotFound\n2000 j1: in_progress'],
    [
      'not found in time',
      'broken',
      '0 a: 202 j1\n10 j1: 404 ResourceNotFound\n5100 j1: 404 ResourceNotFound',
    ],
    ['not looked for long enough', 'open', '0 a: 202 j1\n10 j1: 404 ResourceNotFound'],
  ],
  'jobs.retrieve/200-job': [
    ['a job in each state', 'held', job('j1', 0)],
    ['no status', 'broken', '0 a: 202 j1\n10 j1: in_progress {"status":7}'],
    ['null for a member', 'broken', '0 a: 202 j1\n10 j1: in_progress {"data":null}'],
    [
      'a breakdown among good readings',
      'broken',
      `${busy}\n30 j1: 500 InternalError\n40 j1: completed`,
    ],
    [
      'not found before it settles',
      'held',
      '0 a: 202 j1\n10 j1: 404 ResourceNotFound\n20 j1: in_progress',
    ],
    ['throttled', 'held', `${busy}\n30 j1: 429 QuotaExceeded`],
  ],
  'jobs.retrieve/200-identity': [
    ['its own members', 'held', job('j1', 0)],
    [
      'another id',
      'broken',
      '0 a: 202 j1\n10 j1: in_progress {"id":"00000000-0000-4000-8000-000000000000"}',
    ],
    ['another application', 'broken', '0 a: 202 j1\n10 j1: in_progress {"application_id":"b"}'],
    [
      'an id that another creation gave',
      'broken',
      `${job('j1', 0)}\n100 a: 202 j1\n110 j1: completed`,
    ],
    [
      'gone after a newer one',
      'broken',
      `${job('j1', 0)}${job('j2', 100)}\n6000 j1: 404 ResourceNotFound`,
    ],
    ['gone for a moment', 'held', `${job('j1', 0)}${job('j2', 100)}\n200 j1: 404 ResourceNotFound`],
    ['the data of a newer job', 'broken', results('"one"', '"two"')],
    ['data that changes by itself', 'held', results('"one"', '"three"')],
    ['the same data in both', 'held', results('"one"', '"one"', '"one"')],
  ],
  'jobs.retrieve/200-created-at': [
    ['the time of its creation', 'held', job('j1', 0)],
    [
      '5 s later',
      'broken',
      '0 a: 202 j1\n10 j1: in_progress {"created_at":"2026-03-01T12:00:05Z"}',
    ],
    [
      'whole seconds',
      'held',
      '0 a: 202 j1\n10 j1: in_progress {"created_at":"2026-03-01T12:00:00Z"}',
    ],
    [
      'one instant in two precisions',
      'held',
      `0 a: 202 j1
      10 j1: in_progress {"created_at":"2026-03-01T12:00:00.736124Z"}
      20 j1: completed {"created_at":"2026-03-01T12:00:00.736Z"}`,
    ],
    [
      'another instant in the same precision',
      'broken',
      `0 a: 202 j1
      10 j1: in_progress {"created_at":"2026-03-01T12:00:00.736Z"}
      20 j1: completed {"created_at":"2026-03-01T12:00:00.737Z"}`,
    ],
    [
      'a later job with an earlier time',
      'broken',
      `${job('j1', 0)}\n5000 a: 202 j2 {"created_at":"2026-03-01T11:59:59Z"}
      5010 j2: completed {"created_at":"2026-03-01T11:59:59Z"}`,
    ],
  ],
  'jobs.retrieve/200-outcome': [
    ['it ends', 'held', job('j1', 0)],
    ['it goes on', 'broken', `${busy}\n8100 j1: in_progress`],
    ['nobody read it for so long', 'open', busy],
    [
      'a status that the spec does not know',
      'broken',
      '0 a: 202 j1\n20 j1: succeeded\n3000 j1: succeeded',
    ],
    ['a status on the way', 'open', '0 a: 202 j1\n20 j1: queued'],
  ],
  'jobs.retrieve/200-consistent': [
    ['a job in each state', 'held', job('j1', 0)],
    [
      'an end while in progress',
      'broken',
      '0 a: 202 j1\n10 j1: in_progress {"completed_at":"2026-03-01T12:00:00Z"}',
    ],
    ['a result while in progress', 'broken', '0 a: 202 j1\n10 j1: in_progress {"data":{}}'],
    ['an error while in progress', 'broken', '0 a: 202 j1\n10 j1: in_progress {"error":"none"}'],
    [
      'null while in progress, which is another fault',
      'held',
      '0 a: 202 j1\n10 j1: in_progress {"error":null}',
    ],
    [
      'an error of a completed job',
      'held',
      '0 a: 202 j1\n10 j1: completed {"error":"two attempts"}',
    ],
    [
      'an end 5 s before the creation',
      'broken',
      '6000 a: 202 j1\n6010 j1: completed {"completed_at":"2026-03-01T12:00:01Z"}',
    ],
    [
      'an end in whole seconds',
      'held',
      '900 a: 202 j1\n950 j1: completed {"completed_at":"2026-03-01T12:00:00Z"}',
    ],
    [
      'a creation two months ago',
      'broken',
      '0 a: 202 j1\n10 j1: completed {"created_at":"2026-01-01T12:00:00Z"}',
    ],
    [
      'a clock that is hours off',
      'held',
      '0 a: 202 j1\n10 j1: completed {"created_at":"2026-03-02T02:00:00Z"}',
    ],
    [
      'a declared job of last year',
      'held',
      '10 j1: completed {"created_at":"2025-01-01T12:00:00Z"}',
    ],
  ],
  'jobs.retrieve/200-stable': [
    ['the same again', 'held', `${job('j1', 0)}\n3000 j1: completed`],
    ['another outcome', 'broken', `${job('j1', 0)}\n3000 j1: failed`],
    ['in progress again', 'broken', `${job('j1', 0)}\n3000 j1: in_progress`],
    ['a copy that lags behind', 'held', `${job('j1', 0)}\n500 j1: in_progress\n3000 j1: completed`],
    [
      'updated_at moves',
      'held',
      `${job('j1', 0)}\n3000 j1: completed {"updated_at":"2026-03-01T13:00:00Z"}`,
    ],
    ['gone later', 'broken', `${job('j1', 0)}\n6000 j1: 404 ResourceNotFound`],
    ['gone for a moment', 'open', `${job('j1', 0)}\n3000 j1: 404 ResourceNotFound`],
    ['a declared job', 'held', '0 j1: completed\n3000 j1: completed'],
    [
      'one instant in two precisions and offsets',
      'held',
      `0 j1: completed {"created_at":"2026-03-01T12:00:00.736124Z"}
      3000 j1: completed {"created_at":"2026-03-01T13:00:00.736+01:00"}`,
    ],
    [
      'another instant',
      'broken',
      `0 j1: completed {"created_at":"2026-03-01T12:00:00.736Z"}
      3000 j1: completed {"created_at":"2026-03-01T12:00:00.737Z"}`,
    ],
  ],
}

/** Looks that each end in a 409 after a refusal, with jobs in between that nothing was refused before, or their refusal. */
function looks(names: readonly string[], from = 0, between = '202'): string {
  return names
    .map((name, at) => {
      const start = from + at * 6000
      const bare = [0, 1, 2, 3].map((n) =>
        between === '202' || n === 0
          ? job(`${name}${n}`, start + 2500 + 100 * n)
          : `${start + 2500 + 100 * n} a: 409`,
      )
      return `\n${start + 100} a/400-missing-inputs: 400\n${start + 110} a: 409${bare.join('\n')}`
    })
    .join('\n')
}

/** An ended job that reads its data, and other data after a newer job has ended with some of its own. */
function results(own: string, later: string, newer = '"two"'): string {
  return `0 a: 202 j1\n10 j1: completed {"data":{"title":${own}}}
    100 a: 202 j2\n110 j2: completed {"data":{"title":${newer}}}
    3000 j1: completed {"data":{"title":${later}}}`
}

describe.each(Object.entries(table))('%s', (id, stories) => {
  test.each(stories)('%s: %s', (_, outcome, story) => {
    const verdict = judge(id as Id, story)
    expect(
      verdict.outcome,
      JSON.stringify(verdict, ['outcome', 'why', 'what', 'expected', 'actual']),
    ).toBe(outcome)
  })
})

test.each(Object.entries(table))(
  '%s: judged as it grows, a history ends in the same verdict',
  (id, stories) => {
    for (const [, , story] of stories) {
      for (const isRecorded of [false, true]) {
        const whole = historyOf(story, isRecorded)
        const growing = createHistory(whole.limits, { isRecorded })
        for (const event of whole.events) {
          growing.append(event)
          jobRules[id as Id].rule(growing)
        }
        expect(jobRules[id as Id].rule(growing)).toEqual(jobRules[id as Id].rule(whole))
      }
    }
  },
)

test.each<[what: string, outcome: Outcome, story: string]>([
  ['the same inputs alone', 'open', `${busy}\n30 a: 409\n40 j1: in_progress`],
  ['other values alone', 'open', `${busy}\n30 a*: 409\n40 j1: in_progress`],
  ['both', 'held', `${busy}\n30 a: 409\n40 a*: 409\n50 j1: in_progress`],
  ['both, on two applications', 'held', `${busy}\n30 a: 409\n40 b: 202 j2\n50 b*: 409`],
  [
    'other values that nobody has to take',
    'held',
    `${busy}\n30 a: 409\n40 a*: 400\n50 j1: in_progress`,
  ],
  ['other values that met a limit', 'open', `${busy}\n30 a: 409\n40 a*: 429\n50 j1: in_progress`],
  ['other values after its end', 'open', `${busy}\n30 a: 409\n40 j1: completed\n50 a*: 202 j2`],
  [
    'a 409 to what another job may have asked for',
    'open',
    `0-9 a: 202 j1\n1-9 a*: 202 j2\n20 a: 409`,
  ],
  [
    'other values that start a job',
    'broken',
    `${busy}\n30 a: 409\n40 a*: 202 j2\n50 j1: in_progress\n900 j1: in_progress`,
  ],
])('jobs.create/409-job-in-progress, with inputs that have texts: %s', (_, outcome, story) => {
  expect(inProgressWithOthers(historyOf(story)).outcome).toBe(outcome)
})

test('somebody else who uses an application is not in a recording: what it made itself proves something', () => {
  const kept = `${job('j1', 10)}\n${refusals(100, 3)}`
  expect(judge('jobs.create/409-released', kept, true).outcome).toBe('open')
  expect(judge('jobs.create/409-released', `0 a: made${kept}`, true).outcome).toBe('broken')
  expect(
    judge('jobs.create/409-job-in-progress', `${busy}\n30 a: 202 j2\n40 j1: in_progress`, true)
      .outcome,
  ).toBe('broken')
})
