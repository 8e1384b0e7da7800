package catalog

// typeNames is how the API names the kind of a subject in a relation.
var typeNames = map[SubjectType]string{
	Book: "书籍", Anime: "动画", Music: "音乐", Game: "游戏", Real: "三次元",
}

// platformLabels are the API's words for the dump's codes, which depend on the
// type (upstreams/archive.md section 7).
var platformLabels = map[SubjectType]map[int]string{
	Anime: {0: "其他", 1: "TV", 2: "OVA", 3: "剧场版", 5: "WEB", 2006: "动态漫画"},
	Real:  {0: "其他", 1: "日剧", 2: "欧美剧", 3: "华语剧", 6001: "电视剧", 6002: "电影", 6003: "演出", 6004: "综艺"},
	Book:  {0: "其他", 1001: "漫画", 1002: "小说", 1003: "画集", 1004: "绘本", 1005: "写真", 1006: "公式书"},
	Game:  {0: "其他", 4001: "游戏", 4002: "软件", 4003: "扩展包", 4005: "桌游"},
}

// PlatformLabel is the API's word for a platform code of the dump; empty for a code
// without a label, which the API shows as null.
func PlatformLabel(t SubjectType, code int) string { return platformLabels[t][code] }

// Codes of relations between anime or live action (upstreams/archive.md section 6).
const (
	CodePrequel   = 2
	CodeSequel    = 3
	CodeSideStory = 6
)

// screenRelations are the labels among anime and real subjects.
var screenRelations = map[int]string{
	CodePrequel: Prequel, CodeSequel: Sequel, 4: "总集篇", 5: "全集", CodeSideStory: SideStory, 7: "角色出演", 8: "相同世界观",
	9: "不同世界观", 10: "不同演绎", 11: "衍生", 12: "主线故事", 14: "联动", 99: "其他",
}

// relationLabels are the labels by the type of the listed subject
// (upstreams/archive.md section 6).
var relationLabels = map[SubjectType]map[int]string{
	Anime: screenRelations,
	Real:  screenRelations,
	Book: {
		1002: "系列", 1003: "单行本", 1004: "画集", 1005: "前传", 1006: "续集", 1007: "番外篇", 1008: "主线故事", 1010: "不同版本",
		1011: "角色出演", 1012: "相同世界观", 1013: "不同世界观", 1014: "联动", 1015: "不同演绎", 1099: "其他",
	},
	Music: {
		3001: "原声集", 3002: "角色歌", 3003: "片头曲", 3004: "片尾曲", 3005: "插入歌", 3006: "印象曲", 3007: "广播剧", 3099: "其他",
	},
	Game: {
		4002: "前传", 4003: "续集", 4006: "外传", 4007: "角色出演", 4008: "相同世界观", 4009: "不同世界观", 4010: "不同演绎", 4012: "主线故事",
		4014: "联动", 4015: "扩展包", 4016: "不同版本", 4017: "主版本", 4018: "合集", 4019: "收录作品", 4099: "其他",
	},
}

// RelationLabel is the API's word for a relation code of the dump; it depends on the
// type of the subject that is listed. An adaptation or an unknown code shows that type.
func RelationLabel(listed SubjectType, code int) string {
	if label, ok := relationLabels[listed][code]; ok {
		return label
	}
	return typeNames[listed]
}
