package settings

func notificationSection(s *Notification) section {
	return section{
		name:  "notification",
		label: "Notifications", labelZH: "通知",
		help: "What messages say, and in which language.",
		zh:   "通知的内容与语言。",
		options: []option{
			{name: "language", at: &s.Language, standard: "en", choices: []Choice{{"en", "English", "English"}, {"zh-CN", "简体中文", "简体中文"}},
				label: "Language", labelZH: "语言",
				help: "Language of notifications and of summaries.",
				zh:   "通知和总结使用的语言。"},
			{name: "airing_cron", at: &s.AiringCron, standard: "0 9 * * *", check: optional(checkCron), form: Cron,
				label: "Tell what airs today", labelZH: "今日放送的时间",
				help: "When a message says which episodes of what you are watching air today, as a cron expression of five fields in the local " +
					"time. It is taken from the offline data, so that must be switched on. Empty means never.",
				zh: "通知“在看”的条目今天放送哪几集的时间，五段 cron 表达式，按本地时区。数据来自离线数据，需先启用。留空表示从不通知。"},
			{name: "silent_days", at: &s.SilentAfter, unit: days, standard: 14, min: 0, max: 365,
				label: "A source is silent after", labelZH: "来源静默的天数",
				help: "Days without an event after which a source that used to send some counts as silent. 0 means never.",
				zh:   "原本有事件的来源连续多少天没有事件后视为静默。0 表示从不。"},
			{name: "people_home_network", at: &s.PeopleHome, standard: false,
				label: "People send to the home network", labelZH: "成员可发送到内网",
				help: "Let channels of people who sign in by themselves send to addresses of the home network, and through the proxy. Without it " +
					"they reach the internet alone, directly.",
				zh: "允许自己登录的成员的渠道发送到内网地址，并使用代理。不启用时只能直接发送到互联网。"},
		},
	}
}

func llmSection(s *LLM) section {
	return section{
		name:  "llm",
		label: "Language model", labelZH: "大模型",
		help: "The service that writes the summaries: any that speaks the chat completions of OpenAI. " +
			"Titles and media-server user names of what was watched are sent to it. /docs/summaries#what-leaves-your-network says more.",
		zh: "撰写观看总结的服务，兼容 OpenAI 对话接口即可。观看记录中的标题和媒体服务器用户名会发送给它，详见 /docs/summaries#what-leaves-your-network。",
		options: []option{
			{name: "base_url", at: &s.BaseURL, standard: "", check: optional(checkURL), form: URL,
				label: "Address", labelZH: "接口地址",
				help: "Address of the service up to its version, for example https://api.openai.com/v1, or that of a server of your own: " +
					"http://192.168.1.5:11434/v1 (Ollama), http://192.168.1.5:1234/v1 (LM Studio), http://192.168.1.5:8080/v1 (llama.cpp). " +
					"With one of these nothing leaves your network. In a container 127.0.0.1 is the container itself. Empty means off: " +
					"summaries then have figures only.",
				zh: "服务的接口地址，写到版本号为止，例如 https://api.openai.com/v1；也可以是自己的服务器：" +
					"http://192.168.1.5:11434/v1（Ollama）、http://192.168.1.5:1234/v1（LM Studio）、http://192.168.1.5:8080/v1（llama.cpp），此时数据不会离开家庭网络。在容器中，127.0.0.1 指容器本身。留空表示不使用，总结只含统计数字。"},
			{name: "api_key", at: &s.APIKey, standard: "", check: optional(checkAPIKey),
				label: "API key", labelZH: "API 密钥",
				help: "Key of the service. Servers of your own mostly need none.",
				zh:   "服务的 API 密钥。自建服务一般无需填写。"},
			{name: "model", at: &s.Model, standard: "",
				label: "Model", labelZH: "模型",
				help: "Name of the model as the service calls it. Empty leaves it to a server that has only one.",
				zh:   "模型名称，以服务给出的名称为准。只有一个模型的服务可以留空。"},
			{name: "timeout", at: &s.Timeout, unit: seconds, standard: 60, min: 5, max: 270,
				label: "Timeout", labelZH: "请求超时",
				help: "Seconds after which a request is given up. Models on a machine of your own may need more.",
				zh:   "请求的超时秒数。在自己的机器上运行的模型可能需要更长时间。"},
			{name: "max_tokens", at: &s.MaxTokens, standard: 2000, min: 0, max: 100000,
				label: "Longest answer", labelZH: "回答长度上限",
				help: "Most tokens of an answer. Models that think before they answer spend them on that too. 0 leaves it to the service.",
				zh:   "回答最多使用的 token 数，会先思考的模型也计入思考部分。0 表示由服务决定。"},
			{name: "temperature", at: &s.Temperature, standard: "", check: optional(checkTemperature), advanced: true,
				label: "Temperature", labelZH: "温度",
				help: "How freely the model writes, from 0 to 2. Empty leaves it to the service.",
				zh:   "模型行文的随意程度，0 到 2。留空表示由服务决定。"},
		},
	}
}
