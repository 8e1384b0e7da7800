// Package movetest makes folders as Bangumi-syncer leaves them, for tests: its files in the forms of three of its
// generations, with real SQLite and really encrypted.
package movetest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // makes the databases
)

// What the folders hold in secret. None may be seen in clear.
const (
	master        = "master-key-of-the-folder-5f1e"
	MiraToken     = "mira-token-7f3a9c5e1b"
	AlexToken     = "alex-token-2d8b4f6a0c"
	WebhookKey    = "webhook-key-of-bangumi-syncer-0011"
	smtpPassword  = "smtp-password-77aa"
	weComKey      = "11112222-3333-4444-5555-666677778888"
	traktAccess   = "trakt-access-4f4f4f"
	traktRefresh  = "trakt-refresh-5e5e5e"
	TraktSecret   = "trakt-app-secret-9a9a"
	ModelKey      = "sk-model-key-33cc33cc"
	ProxyPassword = "proxy-password-88"
)

// Secrets are all of them.
var Secrets = []string{master, MiraToken, AlexToken, WebhookKey, smtpPassword, weComKey, traktAccess, traktRefresh, TraktSecret, ModelKey, ProxyPassword}

// Seal encrypts a text as versions since 3.6 do, with the secret_key of a config.ini.
func Seal(master, plain string) string {
	key, err := hkdf.Key(sha256.New, []byte(master), []byte("bangumi-syncer-config-v1"), "config-secret-fernet-v1", 32)
	if err != nil {
		panic(err)
	}
	block, err := aes.NewCipher(key[16:])
	if err != nil {
		panic(err)
	}
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	text := []byte(plain + strings.Repeat(string(rune(pad)), pad))
	token := make([]byte, 25, 25+len(text)+sha256.Size)
	token[0], token[5] = 0x80, 1
	_, _ = rand.Read(token[9:25]) // documented never to return an error
	cipher.NewCBCEncrypter(block, token[9:25]).CryptBlocks(text, text)
	token = append(token, text...)
	mac := hmac.New(sha256.New, key[:16])
	mac.Write(token)
	return "BGS1:" + base64.URLEncoding.EncodeToString(mac.Sum(token))
}

// Write writes a file below dir.
func Write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Database makes a database below dir by statements. With journal the last changes stand in a write-ahead log beside it.
func Database(t testing.TB, dir, name string, journal bool, statements ...string) {
	t.Helper()
	made := filepath.Join(t.TempDir(), "made.db")
	d, err := sql.Open("sqlite", made)
	if err != nil {
		t.Fatal(err)
	}
	d.SetMaxOpenConns(1)
	mode := "DELETE"
	if journal {
		mode = "WAL"
	}
	for _, statement := range append([]string{"PRAGMA journal_mode=" + mode}, statements...) {
		if _, err := d.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
	// As the tool leaves them when it is killed: closing would empty the log.
	for _, ending := range []string{"", "-wal"} {
		text, err := os.ReadFile(made + ending)
		if err == nil {
			Write(t, dir, name+ending, string(text))
		} else if ending == "" || journal {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// First is a folder of version 1.5: one account, mappings in config.ini, no database.
func First(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Write(t, dir, "config.ini", "\ufeff"+strings.ReplaceAll(`##########################bangumi设置############################

[bangumi]

# 令牌，注意有效期
username = mira
access_token = `+MiraToken+`
private = no

[bangumi-data]
enabled = False
data_url = https://unpkg.com/bangumi-data@0.3/dist/data.json

[sync]
mode = single
single_username = Mira

[bangumi-mapping]
# 番剧名 = bangumi_subject_id
魔王学院的不适任者 = 292222

[dev]
script_proxy = http://user:`+ProxyPassword+`@127.0.0.1:7890
log_file = ./log.txt
debug = False
`, "\n", "\r\n"))
	return dir
}

// Second is a folder of version 3.4: two accounts in multi mode, plain tokens, channels that say themselves what they tell, the first
// form of the database.
func Second(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Write(t, dir, "config.ini", `[bangumi]
username =
access_token =
private = False

[bangumi-user1]
username = mira
access_token = `+MiraToken+`
private = False

[bangumi-user2]
username = alex
access_token = `+AlexToken+`
private = True

[sync]
mode = multi
single_username =
plex_mira = bangumi-user1
emby mira = bangumi-user1
alex = bangumi-user2
blocked_keywords = 预告, NCOP ,

[auth]
enabled = True
username = admin
password = 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
session_timeout = 7200
secret_key = `+master+`
max_login_attempts = 8
lockout_duration = 910

[webhook-1]
id = 1
enabled = True
url = http://127.0.0.1:9/services/T0001
method = POST
headers = Content-Type: application/json, X-Extra: yes
types = mark_failed,anime_not_found
template = {"msgtype": "text", "text": {"content": "{title} S{season}E{episode} 100%% {notification_type}{type_icon}"}}

[email-1]
id = 1
enabled = False
smtp_server = smtp.example.org
smtp_port = 587
smtp_username = mira@example.org
smtp_password = `+smtpPassword+`
smtp_use_tls = True
email_from =
email_to = mira@example.org;alex@example.org
email_subject = [Bangumi-Syncer] {title}
types = all

[dev]
script_proxy =
ssl_verify = False
debug = True
`)
	Write(t, dir, "bangumi_mapping.json", `{"_comment": "自定义映射", "_examples": {"我推的孩子": "386809"}, "mappings": {"假面骑士加布": "502002"}}`)
	Database(t, dir, "sync_records.db", false, `CREATE TABLE sync_records (
			id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp DATETIME DEFAULT CURRENT_TIMESTAMP, user_name TEXT NOT NULL, title TEXT NOT NULL, ori_title TEXT,
			season INTEGER NOT NULL, episode INTEGER NOT NULL, subject_id TEXT, episode_id TEXT, status TEXT NOT NULL, message TEXT, source TEXT NOT NULL)`,
		`INSERT INTO sync_records (timestamp, user_name, title, ori_title, season, episode, subject_id, episode_id, status, message, source) VALUES
			('2024-01-10 21:30:00', 'plex_mira', '灯塔守望者', ' ', 1, 1, '900001', '910001', 'success', '已标记为看过', 'plex'),
			('2024-01-17 21:30:00', 'alex', '灯塔守望者', NULL, 1, 2, NULL, NULL, 'error', '未找到番剧', 'emby'),
			('2024-01-18 21:30:00', 'stranger', '灯塔守望者', NULL, 1, 2, NULL, NULL, 'ignored', '用户无权限', 'jellyfin'),
			('yesterday', 'alex', '灯塔守望者', NULL, 1, 2, NULL, NULL, 'success', '', 'plex'),
			('2024-01-19 21:30:00', 'alex', '', NULL, 1, 2, NULL, NULL, 'success', '', 'plex')`)
	return dir
}

// Newest is a folder as containers of the newest versions have it: config and data apart, accounts in the database, encrypted, with what
// waits, and a journal that a kill left.
func Newest(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	Write(t, dir, "config/config.ini", `[sync]
mode = single
blocked_keywords = 总集篇
movie_playback_start_mark_watching = True
movie_mark_subject_completed = False
enable_real_action = True
match_confidence_threshold = 0.85

[auth]
enabled = True
username = admin
password = 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
secret_key = `+master+`
webhook_key = `+Seal(master, WebhookKey)+`
webhook_auth_enabled = True

[web]
base_path = /Bangumi

[dev]
bgm_api_proxy = https://bgm-api.example
ech_mode = doh
sync_records_retention_days = 3650

[bangumi-archive]
enabled = true
update_cron = 0 9 * * 3

[bangumi-replay]
enabled = true
max_attempts = 30

[feiniu]
enabled = true
db_path = /app/data/feiniu-db/trimmedia.db
min_percent = 90

[fongmi]
enabled = true
devices = 192.168.1.20, 192.168.1.21
subnet = 192.168.1

[trakt]
client_id = trakt-app-id
client_secret = `+Seal(master, TraktSecret)+`
redirect_uri = http://localhost:8000/api/trakt/auth/callback

[llm]
api_key = `+Seal(master, ModelKey)+`
model = deepseek-chat
temperature = 0.5

[notify-wecom-1]
id = 1
enabled = False
key = `+Seal(master, weComKey)+`
msg_type = markdown

[notify-email-1]
id = 1
enabled = False
smtp_server = smtp.example.org
smtp_port = 465
smtp_username = mira@example.org
smtp_password = `+Seal(master, smtpPassword)+`
email_to = mira@example.org

[notify-rule-1]
id = 1
name = 同步失败
enabled = True
types = mark_failed,bangumi_token_expired,watching_summary_每日 总结
channels = notify-wecom-1,notify-email-1,in_app

[notify-airing-today]
enabled = True
cron = 30 8 * * *

[summary-每日 总结]
enabled = True
cron = 0 20 * * *
lookback_days = 2
user_name = Mira
system_prompt = 你是一个追番助手。

  规则：100%% 简短
max_records = -1

[from-the-future]
key = value
`)
	Write(t, dir, "config/bangumi_mapping.json", `{"mappings": {
		"葬送的芙莉莲": {"subject_id": "400602", "season": 1}, "我推的孩子": 386809, "坏": "none", "灯塔": {"subject_id": "900001"}},
		"rules": [{"pattern": "^.*之.*刃$", "subject_id": "245665", "description": "鬼灭"}, {"pattern": "(?<=a)b", "subject_id": "1"}, 7]}`)
	Database(t, dir, "data/sync_records.db", true, newestTables, fmt.Sprintf(`INSERT INTO bangumi_accounts
			(section_name, username, media_server_usernames, auth_method, access_token, refresh_token, expires_at, nickname, private, is_active, created_at, updated_at) VALUES
			('bangumi', 'mira', '["Mira", "mira TV"]', 'manual', '%s', '', NULL, '米拉', 0, 1, 1, 1),
			('bangumi-alex', 'alex', '["alex"]', 'oauth', '%s', '%s', 4102444800, '', 1, 0, 1, 1)`,
		Seal(master, MiraToken), Seal(master, AlexToken), Seal(master, "refresh-of-alex")),
		fmt.Sprintf(`INSERT INTO trakt_config (user_id, access_token, refresh_token, expires_at, enabled, last_sync_time, created_at, updated_at, auth_type) VALUES
			('default_user', '%s', '%s', 4102444800, 1, 1755400000, 1, 1, 'oauth')`, Seal(master, traktAccess), Seal(master, traktRefresh)),
		`INSERT INTO sync_records (timestamp, user_name, title, ori_title, season, episode, subject_id, episode_id,
			status, message, source, media_type, bgm_title, match_method, match_score) VALUES
			('2026-07-01 20:00:00', 'Mira', '灯塔守望者', ' ', 1, 1, '900001', '910001', 'success', '已标记为看过', 'plex', 'episode', '灯塔守望者', 'api_search', 0.97),
			('2026-07-02 20:00:00', 'Mira', '一部电影', NULL, 1, 1, '900777', NULL, 'retried', '重试成功', 'retry-emby', 'movie', '一部电影', 'custom_mapping', 1.0),
			('2026-07-03 20:00:00', 'Mira', '灯塔守望者', NULL, 1, 2, '900001', NULL, 'queued', 'API 不可达', 'jellyfin', 'episode', '灯塔守望者', 'archive', 0.9),
			('2026-07-04 20:00:00', 'alex', '灯台守', NULL, 1, 3, NULL, NULL, 'error', '匹配置信度不足', 'trakt', 'episode', '', 'failed', 0.4),
			('2026-07-05 20:00:00', 'Mira', '测试', NULL, 1, 1, NULL, NULL, 'ignored', '', 'test', 'episode', '', '', NULL),
			('2026-07-06 20:00:00', 'Mira', '没有状态', NULL, 1, 1, NULL, NULL, '', '', 'my-script', 'episode', '', '', NULL)`,
		`INSERT INTO pending_sync_queue (created_at, user_name, title, season, episode, subject_id, episode_id, source, payload_json, status, sync_record_id) VALUES
			('2026-07-03 20:00:01', 'Mira', '灯塔守望者', 1, 2, '900001', NULL, 'jellyfin', '{"ori_title": "灯台守", "release_date": "2024-01-17"}', 'pending', 3),
			('2026-07-03 20:00:02', 'Mira', '灯塔守望者', 1, 4, '900001', NULL, 'jellyfin', 'broken', 'pending', NULL),
			('2026-07-03 20:00:03', 'Mira', '灯塔守望者', 1, 5, '900001', NULL, 'jellyfin', '{}', 'synced', NULL)`,
		`INSERT INTO pending_candidates (created_at, request_title, request_season, request_episode, user_name, source, status, sync_record_id) VALUES
			('2026-07-04 20:00:00', '灯台守', 1, 3, 'alex', 'trakt', 'pending', 4)`)
	return dir
}

const newestTables = `
	CREATE TABLE sync_records (
		id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp DATETIME DEFAULT CURRENT_TIMESTAMP, user_name TEXT NOT NULL, title TEXT NOT NULL, ori_title TEXT,
		season INTEGER NOT NULL, episode INTEGER NOT NULL, subject_id TEXT, episode_id TEXT, status TEXT NOT NULL, message TEXT, source TEXT NOT NULL,
		media_type TEXT NOT NULL DEFAULT 'episode', bgm_title TEXT DEFAULT '', match_method TEXT DEFAULT '', match_score REAL, match_platform TEXT DEFAULT '',
		match_trace TEXT DEFAULT '', run_id TEXT DEFAULT '', batch_id TEXT DEFAULT '');
	CREATE TABLE trakt_config (
		id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL UNIQUE, access_token TEXT NOT NULL, refresh_token TEXT, expires_at INTEGER, enabled BOOLEAN DEFAULT 1,
		sync_interval TEXT, sync_filter_enabled BOOLEAN, last_sync_time INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, auth_type TEXT);
	CREATE TABLE pending_candidates (
		id INTEGER PRIMARY KEY AUTOINCREMENT, created_at DATETIME, request_title TEXT NOT NULL, request_ori_title TEXT DEFAULT '', request_season INTEGER DEFAULT 1,
		request_episode INTEGER DEFAULT 0, user_name TEXT DEFAULT '', source TEXT DEFAULT '', candidates_json TEXT DEFAULT '[]', trace_json TEXT DEFAULT '{}',
		status TEXT DEFAULT 'pending', confirmed_subject_id TEXT DEFAULT '', resolved_at DATETIME, sync_record_id INTEGER);
	CREATE TABLE pending_sync_queue (
		id INTEGER PRIMARY KEY AUTOINCREMENT, created_at DATETIME, user_name TEXT NOT NULL, title TEXT NOT NULL, season INTEGER, episode INTEGER, subject_id TEXT NOT NULL,
		episode_id TEXT, source TEXT DEFAULT '', media_type TEXT DEFAULT 'episode', payload_json TEXT NOT NULL, status TEXT, attempts INTEGER, last_attempt_at DATETIME,
		last_error TEXT, sync_record_id INTEGER);
	CREATE TABLE bangumi_accounts (
		id INTEGER PRIMARY KEY AUTOINCREMENT, section_name TEXT NOT NULL UNIQUE, username TEXT NOT NULL DEFAULT '', media_server_usernames TEXT NOT NULL DEFAULT '[]',
		auth_method TEXT NOT NULL DEFAULT 'manual', access_token TEXT, refresh_token TEXT, token_type TEXT DEFAULT 'Bearer', expires_at INTEGER,
		bangumi_user_id TEXT DEFAULT '', nickname TEXT DEFAULT '', avatar TEXT DEFAULT '', private BOOLEAN NOT NULL DEFAULT 0, is_active BOOLEAN NOT NULL DEFAULT 0,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);`
