// Package emby reads the webhooks of Emby Server
// (upstreams/media-servers.md, section 3).
package emby

import (
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/mediabrowser"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// Adapter is Emby as a source.
var Adapter = payload.Adapter{
	Source: watch.Emby,
	Name:   bilingual.Text{English: "Emby", Chinese: "Emby"},
	Parse:  Parse,
	Guide: payload.Guide{
		Document: "sources/emby",
		Needs: bilingual.Text{English: "Needs Emby Premiere.",
			Chinese: "需要 Emby Premiere。"},
		Steps: []bilingual.Text{
			{English: "Emby 4.8 or newer: **Settings → Notifications → Add Notification → Webhooks**. Older: **Server → Webhooks**.",
				Chinese: "Emby 4.8 及以上：**设置 → 通知 → 添加通知 → Webhooks**。更早版本：**服务器 → Webhooks**。"},
			{English: "Paste the address as **URL**, and choose `application/json` as **Request content type**.",
				Chinese: "把地址粘贴到 **URL**，**请求内容类型**选择 `application/json`。"},
			{English: "Tick **Playback: Stop** and **Users: Mark Played** (**Users: Mark Unplayed** too if marks shall be taken back; and **Playback: Start** if films shall be put on your list when they begin). Choose the users and libraries that count.",
				Chinese: "勾选 **播放：停止** 和 **用户：标记为已播放**（要撤回标记，再勾选 **用户：标记为未播放**；如果希望剧场版一开始播放就设为“在看”，再勾选 **播放：开始**）。选择相应的用户和媒体库。"},
			{English: "**Send test notification**: it appears below as ignored, which is right. Then **Save**.",
				Chinese: "点击**发送测试通知**：下方会显示为已忽略，这是正常的。然后**保存**。"},
		},
		Note: bilingual.Text{English: "Limit the webhook to users: without that, some versions do not say who watched.",
			Chinese: "请把 Webhook 限定到具体用户，否则部分版本不会说明是谁看的。"},
	},
}

// Parse reads a request of Emby. It returns a *payload.BadRequest when the
// request is no Emby event and an error that wraps payload.ErrUnsupportedMedia
// when it is neither JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	o, err := req.Object()
	if err != nil {
		return payload.Delivery{}, err
	}
	r := mediabrowser.ReadEvent(watch.Emby, o)
	r.Event.OccurredAt = o.Time("Date")
	switch event := r.Event.RawEvent; event {
	case "":
		return payload.Delivery{}, &payload.BadRequest{Field: "Event", Detail: noEvent.With()}
	case "item.markplayed":
		return r.Deliver(watch.Watched)
	case "playback.stop", "playback.scrobble":
		// A missing flag means not completed.
		if completed, _ := o.Object("PlaybackInfo").Bool("PlayedToCompletion"); completed {
			return r.Deliver(watch.Watched)
		}
		return r.Ignore(notCompleted.With(event)), nil
	case "playback.start":
		return r.Deliver(watch.Started)
	case "item.markunplayed":
		return r.Deliver(watch.Unwatched)
	case "system.notificationtest", "system.webhooktest":
		return r.ConnectionTest(), nil
	default:
		return r.Ignore(payload.NotFinished.With(event)), nil
	}
}
