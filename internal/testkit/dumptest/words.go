package dumptest

import "strings"

// A word is one notion in the three scripts of the titles, so that the
// Japanese, Chinese and English title of a show say the same.
type word struct{ ja, zh, en string }

// parseWords reads blank-separated entries "ja|zh|en"; "_" in the English
// stands for a blank.
func parseWords(text string) []word {
	var words []word
	for entry := range strings.FieldsSeq(text) {
		part := strings.Split(entry, "|")
		words = append(words, word{part[0], part[1], strings.ReplaceAll(part[2], "_", " ")})
	}
	return words
}

var nouns = parseWords(`
銀河|银河|Galaxy 星屑|星尘|Stardust 月光|月光|Moonlight 太陽|太阳|Sun 彗星|彗星|Comet 流星|流星|Meteor 星座|星座|Constellation 地平線|地平线|Horizon
青空|蓝天|Blue_Sky 夕焼け|晚霞|Sunset 夜明け|黎明|Daybreak 黄昏|黄昏|Twilight 真夜中|午夜|Midnight 吹雪|暴风雪|Blizzard 稲妻|闪电|Lightning 虹|彩虹|Rainbow
雨音|雨声|Raindrops 霧|迷雾|Mist 嵐|风暴|Storm そよ風|微风|Breeze 海辺|海边|Seashore 深海|深海|Abyss 波打ち際|浪花|Surf 珊瑚|珊瑚|Coral
砂漠|沙漠|Desert 草原|草原|Prairie 森|森林|Forest 樹海|树海|Sea_of_Trees 山脈|山脉|Mountains 火山|火山|Volcano 渓谷|峡谷|Canyon 湖|湖泊|Lake
泉|泉水|Fountain 庭園|庭园|Garden 花園|花园|Flower_Garden 桜|樱花|Cherry_Blossom 向日葵|向日葵|Sunflower 薔薇|蔷薇|Rose 椿|山茶花|Camellia 紫陽花|紫阳花|Hydrangea
白百合|白百合|White_Lily 蒲公英|蒲公英|Dandelion 果樹園|果园|Orchard 林檎|苹果|Apple 蜜柑|橘子|Tangerine 檸檬|柠檬|Lemon 葡萄畑|葡萄园|Vineyard 麦畑|麦田|Wheat_Field
黒猫|黑猫|Black_Cat 狼|野狼|Wolf 狐|狐狸|Fox 白鳥|天鹅|Swan 鴉|乌鸦|Crow 梟|猫头鹰|Owl 金魚|金鱼|Goldfish 海豚|海豚|Dolphin
蝶々|蝴蝶|Butterfly 蛍|萤火虫|Firefly 蜘蛛|蜘蛛|Spider 竜|巨龙|Dragon 鳳凰|凤凰|Phoenix 一角獣|独角兽|Unicorn 人魚|人鱼|Mermaid 妖精|妖精|Fairy
天使|天使|Angel 悪魔|恶魔|Devil 吸血鬼|吸血鬼|Vampire 幽霊|幽灵|Ghost 魔女|魔女|Witch 魔王|魔王|Demon_Lord 勇者|勇者|Hero 賢者|贤者|Sage
騎士|骑士|Knight 姫君|公主|Princess 王子|王子|Prince 女王|女王|Queen 皇帝|皇帝|Emperor 将軍|将军|General 侍|武士|Samurai 忍者|忍者|Ninja
海賊|海盗|Pirate 盗賊|盗贼|Thief 探偵|侦探|Detective 刑事|刑警|Inspector 怪盗|怪盗|Phantom_Thief 医者|医生|Doctor 看護師|护士|Nurse 弁護士|律师|Lawyer
料理人|厨师|Chef 職人|匠人|Artisan 画家|画家|Painter 詩人|诗人|Poet 作曲家|作曲家|Composer 指揮者|指挥家|Conductor 踊り子|舞女|Dancer 歌姫|歌姬|Diva
アイドル|偶像|Idol 転校生|转校生|Transfer_Student 生徒会長|学生会长|Student_President 先輩|学长|Senpai 幼馴染|青梅竹马|Childhood_Friend 双子|双胞胎|Twins 花嫁|新娘|Bride 未亡人|寡妇|Widow
旅人|旅人|Traveler 商人|商人|Merchant 錬金術師|炼金术士|Alchemist 召喚士|召唤师|Summoner 暗殺者|暗杀者|Assassin 傭兵|佣兵|Mercenary 狙撃手|狙击手|Sniper 飛行士|飞行员|Aviator
人形|人偶|Doll 機械|机械|Machine 歯車|齿轮|Gear 時計塔|钟楼|Clock_Tower 砂時計|沙漏|Hourglass 羅針盤|罗盘|Compass 万華鏡|万花筒|Kaleidoscope 望遠鏡|望远镜|Telescope
電車|电车|Train 飛行船|飞艇|Airship 潜水艦|潜水艇|Submarine 自転車|自行车|Bicycle 戦車|坦克|Tank 戦艦|战舰|Battleship 宇宙船|太空船|Spaceship 軌道|轨道|Orbit
図書館|图书馆|Library 喫茶店|咖啡馆|Cafe 食堂|食堂|Canteen 古本屋|旧书店|Old_Bookstore 美術館|美术馆|Art_Museum 水族館|水族馆|Aquarium 遊園地|游乐园|Amusement_Park 映画館|电影院|Cinema
病院|医院|Hospital 教室|教室|Classroom 寄宿舎|宿舍|Dormitory 屋上|天台|Rooftop 音楽室|音乐室|Music_Room 温泉宿|温泉旅馆|Hot_Spring_Inn 神社|神社|Shrine 教会|教堂|Church
王宮|宫殿|Palace 城塞|城堡|Fortress 迷宮|迷宫|Labyrinth 牢獄|牢狱|Prison 廃墟|废墟|Ruins 灯台|灯塔|Lighthouse 橋|桥|Bridge 路地裏|小巷|Back_Alley
約束|约定|Promise 秘密|秘密|Secret 記憶|记忆|Memory 奇跡|奇迹|Miracle 運命|命运|Destiny 希望|希望|Hope 絶望|绝望|Despair 幸福|幸福|Happiness
孤独|孤独|Solitude 勇気|勇气|Courage 初恋|初恋|First_Love 片想い|单恋|Unrequited_Love 失恋|失恋|Broken_Heart 結婚|婚姻|Marriage 友情|友情|Friendship 復讐|复仇|Revenge
裏切り|背叛|Betrayal 正義|正义|Justice 真実|真相|Truth 嘘つき|骗子|Liar 罪|罪孽|Sin 罰|惩罚|Punishment 呪い|诅咒|Curse 祈り|祈祷|Prayer
祝福|祝福|Blessing 契約|契约|Contract 儀式|仪式|Ritual 予言|预言|Prophecy 伝説|传说|Legend 神話|神话|Myth 革命|革命|Revolution 戦争|战争|War
平和|和平|Peace 決闘|决斗|Duel 反逆|叛逆|Rebellion 追跡|追踪|Pursuit 脱出|逃脱|Escape 潜入|潜入|Infiltration 陰謀|阴谋|Conspiracy 密室|密室|Locked_Room
証言|证词|Testimony 容疑者|嫌疑人|Suspect 遺言|遗言|Last_Will 手紙|书信|Letter 日記|日记|Diary 写真|照片|Photograph 指輪|戒指|Ring 首飾り|项链|Necklace
仮面|面具|Mask 鏡|镜子|Mirror 鍵|钥匙|Key 扉|门扉|Door 階段|阶梯|Stairway 窓辺|窗边|Windowside 椅子|椅子|Chair 毛布|毛毯|Blanket
ピアノ|钢琴|Piano ギター|吉他|Guitar 太鼓|太鼓|Drum 旋律|旋律|Melody 交響曲|交响曲|Symphony 子守唄|摇篮曲|Lullaby 円舞曲|圆舞曲|Waltz 鎮魂歌|安魂曲|Requiem
野球|棒球|Baseball サッカー|足球|Football バスケ|篮球|Basketball 将棋|将棋|Shogi 囲碁|围棋|Go_Board 麻雀|麻将|Mahjong 剣道|剑道|Kendo 水泳|游泳|Swimming
マラソン|马拉松|Marathon キャンプ|露营|Camping 釣り|钓鱼|Fishing 弁当|便当|Lunchbox ラーメン|拉面|Ramen 寿司|寿司|Sushi 紅茶|红茶|Black_Tea コーヒー|咖啡|Coffee
チョコレート|巧克力|Chocolate ケーキ|蛋糕|Cake 焼酎|烧酒|Shochu 魔法|魔法|Magic 呪文|咒语|Spell 聖剣|圣剑|Holy_Sword 盾|盾牌|Shield 弓矢|弓箭|Bow
鎧|铠甲|Armor 刀剣|刀剑|Blade 弾丸|子弹|Bullet 火薬|火药|Gunpowder 血統|血统|Bloodline 遺伝子|基因|Gene 細胞|细胞|Cell 頭脳|头脑|Brain
心臓|心脏|Heart 瞳|眼眸|Eyes 翼|翅膀|Wings 足跡|足迹|Footprints 影法師|影子|Shadow 残響|余音|Echo 沈黙|沉默|Silence 微笑|微笑|Smile
涙|眼泪|Tears 口笛|口哨|Whistle 夢|梦境|Dream 悪夢|噩梦|Nightmare 幻想|幻想|Fantasy 永遠|永恒|Eternity 瞬間|瞬间|Moment 季節|季节|Season_Song
夏休み|暑假|Summer_Vacation 放課後|放学后|After_School 日曜日|星期天|Sunday 誕生日|生日|Birthday 卒業式|毕业典礼|Graduation 文化祭|文化祭|School_Festival 花火|烟花|Fireworks 祭囃子|祭典|Festival
風船|气球|Balloon 人工知能|人工智能|Artificial_Mind 電脳|电脑|Cyberbrain 異世界|异世界|Another_World 平行線|平行线|Parallel_Line 重力|重力|Gravity 方程式|方程式|Equation 公式|公式|Formula
`)

var adjectives = parseWords(`
静かな|寂静|Silent 赤い|红色|Red 青い|蓝色|Blue 白い|白色|White 黒い|黑色|Black 黄金の|黄金|Golden 銀色の|银色|Silver 紫の|紫色|Violet
透明な|透明|Transparent 最後の|最后|Last 最初の|最初|First 永遠の|永远|Everlasting 失われた|失落|Lost 忘れられた|被遗忘|Forgotten 眠れる|沉睡|Sleeping 目覚めた|觉醒|Awakened
壊れた|破碎|Broken 燃える|燃烧|Burning 凍った|冰封|Frozen 輝く|闪耀|Shining 囁く|低语|Whispering 笑う|微笑着的|Laughing 泣き虫な|爱哭|Crying 歌う|歌唱|Singing
踊る|舞动|Dancing 彷徨う|彷徨|Wandering 逃げる|逃亡|Runaway 隠された|隐秘|Hidden 偽りの|虚伪|False 真紅の|深红|Crimson 孤高の|孤高|Lonely 気高き|高贵|Noble
無名の|无名|Nameless 無敵の|无敌|Invincible 最強の|最强|Strongest 最弱の|最弱|Weakest 不死身の|不死|Immortal 不器用な|笨拙|Clumsy 我儘な|任性|Selfish 素直な|坦率|Honest
恋する|恋爱|Loving 優しい|温柔|Gentle 冷たい|冰冷|Cold 甘い|甜蜜|Sweet 苦い|苦涩|Bitter 危険な|危险|Dangerous 秘密の|秘密|Secretive 禁断の|禁忌|Forbidden
聖なる|神圣|Sacred 呪われた|被诅咒|Cursed 古代の|远古|Ancient 未来の|未来|Future 真夜中の|午夜|Midnight 夏色の|夏日|Summer 冬の|寒冬|Winter 春待つ|待春|Spring
秋風の|秋风|Autumn 遥かなる|遥远|Distant 小さな|小小|Little 大いなる|伟大|Great 巨大な|巨型|Giant 空飛ぶ|飞天|Flying 漂流する|漂流|Drifting 放浪の|流浪|Vagabond
奇妙な|奇妙|Strange 不思議な|不可思议|Mysterious 退屈な|无聊|Boring 完璧な|完美|Perfect 未完成の|未完成|Unfinished 理想の|理想|Ideal 普通の|普通|Ordinary 裏切りの|背叛|Treacherous
鋼鉄の|钢铁|Iron 硝子の|玻璃|Glass 木漏れ日の|林间|Sunlit 雨上がりの|雨后|After-Rain 満月の|满月|Full-Moon 無限の|无限|Infinite 単純な|单纯|Simple 陽気な|开朗|Cheerful
憂鬱な|忧郁|Melancholy 情熱の|热情|Passionate 疾風の|疾风|Swift 怒れる|愤怒|Angry 飢えた|饥饿|Hungry 迷子の|迷路|Stray 約束の|应许|Promised 選ばれし|被选中|Chosen
働く|打工|Working 引退した|退役|Retired 転生した|转生|Reborn 追放された|被流放|Exiled 狂った|疯狂|Mad 美しき|美丽|Beautiful 醜い|丑陋|Ugly 残酷な|残酷|Cruel
`)

var places = parseWords(`
東京|东京|Tokyo 京都|京都|Kyoto 大阪|大阪|Osaka 横浜|横滨|Yokohama 鎌倉|镰仓|Kamakura 札幌|札幌|Sapporo 沖縄|冲绳|Okinawa 長崎|长崎|Nagasaki
金沢|金泽|Kanazawa 箱根|箱根|Hakone 神戸|神户|Kobe 尾道|尾道|Onomichi 渋谷|涩谷|Shibuya 新宿|新宿|Shinjuku 秋葉原|秋叶原|Akihabara 浅草|浅草|Asakusa
上海|上海|Shanghai 北京|北京|Beijing 長安|长安|Changan 香港|香港|Hong_Kong 台北|台北|Taipei 成都|成都|Chengdu 重慶|重庆|Chongqing 江南|江南|Jiangnan
敦煌|敦煌|Dunhuang 洛陽|洛阳|Luoyang 蘇州|苏州|Suzhou 哈爾濱|哈尔滨|Harbin ソウル|首尔|Seoul 釜山|釜山|Busan 済州島|济州岛|Jeju バンコク|曼谷|Bangkok
パリ|巴黎|Paris ロンドン|伦敦|London ローマ|罗马|Rome ウィーン|维也纳|Vienna ベルリン|柏林|Berlin プラハ|布拉格|Prague マドリード|马德里|Madrid リスボン|里斯本|Lisbon
モスクワ|莫斯科|Moscow イスタンブール|伊斯坦布尔|Istanbul カイロ|开罗|Cairo カサブランカ|卡萨布兰卡|Casablanca ニューヨーク|纽约|New_York シカゴ|芝加哥|Chicago ボストン|波士顿|Boston テキサス|得克萨斯|Texas
マイアミ|迈阿密|Miami ハリウッド|好莱坞|Hollywood アラスカ|阿拉斯加|Alaska ハバナ|哈瓦那|Havana シベリア|西伯利亚|Siberia ヒマラヤ|喜马拉雅|Himalaya サハラ|撒哈拉|Sahara アマゾン|亚马逊|Amazon
火星|火星|Mars 金星|金星|Venus 土星|土星|Saturn 月面都市|月面都市|Lunar_City 地下都市|地下城|Underground_City 空中庭園|空中花园|Hanging_Garden 王都|王都|Royal_Capital 帝都|帝都|Imperial_Capital
辺境|边境|Frontier 北国|北国|Northland 南海|南海|South_Sea 西域|西域|Western_Regions 港町|港口小镇|Harbor_Town 下町|老街|Downtown 商店街|商店街|Shopping_Street 団地|小区|Housing_Estate
女子高|女校|Girls'_School 魔法学園|魔法学园|Magic_Academy 士官学校|军校|Military_Academy 大学病院|大学医院|University_Hospital 警視庁|警视厅|Police_Headquarters 編集部|编辑部|Editorial_Office 放送局|电视台|Broadcasting_House 魔界|魔界|Demon_World
天界|天界|Heaven 冥府|冥府|Underworld 竜宮|龙宫|Dragon_Palace 無人島|无人岛|Desert_Island 孤島|孤岛|Lonely_Island 遊郭|花街|Pleasure_Quarter 離宮|行宫|Detached_Palace 終着駅|终点站|Last_Station
`)

var genres = parseWords(`
物語|物语|Story 戦記|战记|Chronicle 伝説|传说|Legend 日記|日记|Diary 冒険記|冒险记|Adventures 事件簿|事件簿|Case_Files 奇譚|奇谭|Strange_Tales 紀行|纪行|Journey
英雄伝|英雄传|Saga 狂想曲|狂想曲|Rhapsody 協奏曲|协奏曲|Concerto 革命記|革命记|Uprising 大作戦|大作战|Operation 研究部|研究部|Research_Club 探偵団|侦探团|Detective_Agency 警備隊|警备队|Guard
騎士団|骑士团|Order 学園|学园|Academy 食堂日和|食堂日和|Kitchen_Days 相談所|咨询所|Consultation_Office 同盟|同盟|Alliance 戦線|战线|Front 黙示録|默示录|Apocalypse 年代記|编年史|Annals
記念日|纪念日|Anniversary 恋愛譚|恋爱谭|Love_Story 診療所|诊所|Clinic 裁判|审判|Trial 捜査線|搜查线|Investigation 逃亡劇|逃亡剧|Getaway 殺人事件|杀人事件|Murder_Case 遊戯|游戏|Game
計画|计划|Project 方程式|方程式|Equation 処方箋|处方|Prescription 白書|白皮书|White_Paper 百景|百景|Hundred_Views 千夜|千夜|Thousand_Nights 家族|家族|Family 商会|商会|Company
`)

var families = parseWords(`
佐藤|佐藤|Sato 鈴木|铃木|Suzuki 高橋|高桥|Takahashi 田中|田中|Tanaka 伊藤|伊藤|Ito 渡辺|渡边|Watanabe 山本|山本|Yamamoto 中村|中村|Nakamura
小林|小林|Kobayashi 加藤|加藤|Kato 吉田|吉田|Yoshida 佐々木|佐佐木|Sasaki 松本|松本|Matsumoto 井上|井上|Inoue 木村|木村|Kimura 清水|清水|Shimizu
斎藤|斋藤|Saito 桐生|桐生|Kiryu 神崎|神崎|Kanzaki 橘|橘|Tachibana 綾瀬|绫濑|Ayase 冬月|冬月|Fuyutsuki 早乙女|早乙女|Saotome 九条|九条|Kujo
一ノ瀬|一之濑|Ichinose 天海|天海|Amami 黒崎|黑崎|Kurosaki 白鳥|白鸟|Shiratori 水無月|水无月|Minazuki 如月|如月|Kisaragi 西園寺|西园寺|Saionji 御堂|御堂|Mido
三日月|三日月|Mikazuki 朝倉|朝仓|Asakura 藤原|藤原|Fujiwara 柊|柊|Hiiragi 雪村|雪村|Yukimura 霧島|雾岛|Kirishima 篠宮|筱宫|Shinomiya 真壁|真壁|Makabe
`)

var givens = parseWords(`
葵|葵|Aoi 陽菜|阳菜|Hina 美咲|美咲|Misaki 結衣|结衣|Yui 千夏|千夏|Chinatsu 小春|小春|Koharu 琴音|琴音|Kotone 真琴|真琴|Makoto
翔太|翔太|Shota 健太郎|健太郎|Kentaro 龍之介|龙之介|Ryunosuke 一郎|一郎|Ichiro 蓮|莲|Ren 大和|大和|Yamato 隼人|隼人|Hayato 拓海|拓海|Takumi
アリス|爱丽丝|Alice エマ|艾玛|Emma ソフィア|索菲亚|Sophia クロエ|克洛伊|Chloe イザベラ|伊莎贝拉|Isabella シャーロット|夏洛特|Charlotte オリビア|奥利维亚|Olivia エレナ|埃琳娜|Elena
ジャック|杰克|Jack オリバー|奥利弗|Oliver ヘンリー|亨利|Henry ウィリアム|威廉|William アーサー|亚瑟|Arthur レオナルド|莱昂纳多|Leonardo ダニエル|丹尼尔|Daniel セバスチャン|塞巴斯蒂安|Sebastian
マーガレット|玛格丽特|Margaret ベアトリス|碧翠丝|Beatrice ロザリー|罗莎莉|Rosalie ヴィクトル|维克多|Victor ニコラス|尼古拉斯|Nicholas テオドール|西奥多|Theodore エドガー|埃德加|Edgar フランツ|弗朗茨|Franz
明月|明月|Mingyue 如意|如意|Ruyi 建国|建国|Jianguo 雪梅|雪梅|Xuemei 子龍|子龙|Zilong 婉児|婉儿|Waner 大勇|大勇|Dayong 小燕|小燕|Xiaoyan
秀英|秀英|Xiuying 天佑|天佑|Tianyou 長風|长风|Changfeng 若雲|若云|Ruoyun 志明|志明|Zhiming 春嬌|春娇|Chunjiao 阿福|阿福|Ah_Fu 十三娘|十三娘|Shisanniang
ミナ|美娜|Mina ジウ|智友|Ji-woo ソジュン|瑞俊|Seo-jun ハナ|荷娜|Hana ドユン|道允|Do-yun スア|秀雅|Su-a ミンホ|敏镐|Min-ho イェジン|艺珍|Ye-jin
`)

var verbs = parseWords(`
笑う|欢笑|Laughs 眠る|沉睡|Sleeps 踊る|起舞|Dances 戦う|战斗|Fights 恋をする|恋爱|Falls_in_Love 旅をする|旅行|Travels 待っている|等待|Waits 泣いている|哭泣|Weeps
消えた|消失了|Vanished 目覚める|醒来|Awakens 歌っている|歌唱|Sings 死んだ|死去|Died 働いている|打工|Works 料理する|做菜|Cooks 嘘をつく|说谎|Lies 走り出す|奔跑|Runs
暮らしたい|想要生活|Wants_to_Live 無双する|无双|Reigns 迷っている|迷路|Gets_Lost 再会する|重逢|Meets_Again 復讐する|复仇|Takes_Revenge 商売する|经商|Trades 引きこもる|宅居|Hides 星を見る|看星星|Watches_the_Stars
`)

// syllables spell invented proper names alike in the three scripts.
var syllables = parseWords(`
ア|阿|a イ|伊|i エ|埃|e オ|奥|o カ|卡|ka キ|琪|ki ク|库|ku ケ|凯|ke コ|科|ko サ|萨|sa シ|希|shi ス|斯|su セ|塞|se ソ|索|so
タ|塔|ta テ|特|te ト|托|to ナ|娜|na ニ|尼|ni ネ|内|ne ノ|诺|no ハ|哈|ha ヒ|希尔|hi フ|弗|fu マ|玛|ma ミ|米|mi メ|梅|me モ|莫|mo
ヤ|雅|ya ユ|尤|yu ヨ|约|yo ラ|拉|ra リ|莉|ri ル|鲁|ru レ|蕾|re ロ|罗|ro ガ|加|ga ギ|吉|gi グ|古|gu ゴ|戈|go ザ|扎|za ゼ|泽|ze
ダ|达|da デ|德|de ド|多|do バ|巴|ba ビ|比|bi ベ|贝|be ボ|波|bo ヴァ|瓦|va ヴィ|维|vi シャ|夏|sha ジュ|朱|ju チェ|切|che リュ|留|ryu ン|恩|n
`)

// hangul pairs the romanised syllables of Korean titles with their letters;
// only ja (the letters) and en are of use.
var hangul = parseWords(`
가|-|ga 나|-|na 다|-|da 라|-|ra 마|-|ma 바|-|ba 사|-|sa 아|-|a 자|-|ja 하|-|ha 고|-|go 노|-|no 도|-|do 로|-|ro 모|-|mo 보|-|bo
서|-|seo 어|-|eo 저|-|jeo 허|-|heo 구|-|gu 누|-|nu 두|-|du 무|-|mu 수|-|su 우|-|u 주|-|ju 기|-|gi 니|-|ni 리|-|ri 미|-|mi 비|-|bi
은|-|eun 현|-|hyeon 영|-|yeong 별|-|byeol 밤|-|bam 봄|-|bom 달|-|dal 산|-|san 강|-|gang 길|-|gil 꽃|-|kkot 눈|-|nun 품|-|pum 청|-|cheong 연|-|yeon 환|-|hwan
`)

// sentences fill summaries and descriptions; %-marks as in patterns.
var sentences = []string{
	"故事发生在%p，%g与%a%n相遇之后，平静的日常开始改变。",
	"为了寻找传说中的%n，%f%g踏上了前往%p的旅途。",
	"そんなある日、%gは%pで%a%nに出会う。",
	"%a%nと%m——二人の運命が%pで交差する。",
	"然而谁也没有料到，%n的背后竟隐藏着关于%m的惊人真相……",
	"本作改编自同名%s，讲述了%g和伙伴们在%p的%s。",
	"%f%gは%pに住む普通の高校生。ある事件をきっかけに%nを追うことになる。",
	"When %g %f arrives in %p, the %a %n is not what it seems.",
	"面对%a%m，%g将做出怎样的选择？",
	"失われた%nを取り戻すため、%gたちの戦いが始まる。",
	"全新%s，敬请期待！",
	"该片入围多个国际电影节，并获得“%a%n”奖。",
}
