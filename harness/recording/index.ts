export {
  recordBody,
  recordHeaders,
  shownText,
  type Shown,
  createRecorder,
  type Recorder,
  curlOf,
  curlOfBoth,
  remarkMark,
  inProcessUrl,
} from './recorder.ts'

export {
  withoutEntities,
  foreignWords,
  noteSecretsIn,
  printed,
  isAuthorization,
  isSecretName,
  redacted,
  Redactor,
  shortestKey,
} from './redactor.ts'
