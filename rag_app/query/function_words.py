"""Words that carry grammar and not a subject, by language, folded as `terms.fold` folds.

The lists of fourteen languages are Snowball's (BSD licence), to which question words and words of
asking ("tell", "name", "Art") were added; the others were written for this file. Chinese, Japanese
and Thai write without spaces, so theirs are strings to be cut out of a question.
"""

import unicodedata
from collections.abc import Mapping

_WORDS = {
    "ar": """
    اذا اسم الا التي الذي الذين اللذان الى ام ان انا انت انه انها او اي اين ايه ب بسبب بعد بعض
    بل به بها بين بينما تحت تسمي تكون تلك تم ثم حتى حول حيث خلال ذا ذلك عدد على عليه عليها عن
    عند عندما غير ف فوق في فيه فيها قبل قد ك كان كانت كانوا كل كم كما كيف ل لا لقد لكن لم لماذا
    لن له لها ليس ليست ما ماذا متى مع من منذ منه منها نحن نوع هذا هذه هل هم هن هو هي و يتم يسمي
    يكون
    """,
    "cs": """
    a ale byl byla byli bylo byt co do i jak jaka jake jako jaky je jeho jeji jejich jsou kde
    kdo kdy kolik ktera ktere ktery na ne nebo o od po pri pro proc se si ta tato ten ti to toto
    v ve z za zda ze
    """,
    "da": """
    ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din
    disse dog du efter eller en end er et for fra ham han hans har havde have hende hendes her
    hos hun hvad hvem hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornar i ikke ind jeg
    jer jo kaldes kunne man mange med meget men mig min mine mit mod nar navn ned noget nogle nu
    og ogsa om op os over pa sadan selv sig sin sine sit skal skulle som thi til type ud under
    var vi vil ville vor være været
    """,
    "de": """
    aber alle allem allen aller alles als also am an ander andere anderem anderen anderer
    anderes anderm andern anderr anders art auch auf aus bedeutet bei beschreibe bin bis bist
    bitte da damit dann das dass dasselbe dazu dein deine deinem deinen deiner deines dem
    demselben den denn denselben der derer derselbe derselben des desselben dessen dich die dies
    diese dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch ein eine einem
    einen einer eines einig einige einigem einigen einiger einiges einmal er erklare es etwas
    euch euer eure eurem euren eurer eures fur gab gegen gehort gemacht genannt gewesen gibt hab
    habe haben hat hatte hatten heissen heisst hier hiess hin hinter ich ihm ihn ihnen ihr ihre
    ihrem ihren ihrer ihres im in indem ins ist jede jedem jeden jeder jedes jene jenem jenen
    jener jenes jetzt kann kein keine keinem keinen keiner keines konnen konnte lange laut liste
    machen macht man manche manchem manchen mancher manches mein meine meinem meinen meiner
    meines mich mir mit muss musste nach name nenne nicht nichts noch nun nur ob oder oft ohne
    passiert sag sehr sein seine seinem seinen seiner seines selbst sich sie sind so solche
    solchem solchen solcher solches soll sollte sondern sonst typ uber um und uns unse unsem
    unsen unser unses unter viel viele vielen vom von vor wahrend wann war waren warst warum was
    weg weil weiter welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb
    wessen wie wieder wieso will wir wird wirst wo woher wohin wollen wollte worden wurde wurden
    zeige zu zum zur zwar zwischen
    """,
    "el": """
    απο για γιατι δεν ειναι ειχε ενα ενασ εχει η ηταν θα και με μια να ο οι ποια ποιεσ ποιο
    ποιοι ποιοσ ποσα ποσεσ ποσο ποσοι ποτε που πωσ σε στα στη στην στισ στο στον τα τη την τησ
    τι το τον του των ωσ
    """,
    "en": """
    a about above according after again against all also am among an and any are as at be
    because been before being below between both but by called can could describe did do does
    doing don done down during each explain far few find for from further get give got had
    happen happened has have having he her here hers herself him himself his how i if in into is
    it its itself just kind list long many may me mean means might more most much must my myself
    name named no nor not now of off often on once one only or other our ours ourselves out over
    own please s said same say says shall she should show so some such t tell than that the
    their theirs them themselves then there these they this those through to too type under
    until up upon us use used very was way we were what when where which while who whom whose
    why will with within without would you your yours yourself yourselves
    """,
    "es": """
    a al algo algunas algunos ante antes como con contra cual cuales cuando cuanta cuantas
    cuanto cuantos de del describe desde dice dime donde durante e el ella ellas ellos en entre
    era erais eramos eran eras eres es esa esas ese eso esos esta estaba estabais estabamos
    estaban estabas estad estada estadas estado estados estais estamos estan estando estar
    estara estaran estaras estare estareis estaremos estaria estariais estariamos estarian
    estarias estas este esteis estemos esten estes esto estos estoy estuve estuviera estuvierais
    estuvieramos estuvieran estuvieras estuvieron estuviese estuvieseis estuviesemos estuviesen
    estuvieses estuvimos estuviste estuvisteis estuvo explica fue fuera fuerais fueramos fueran
    fueras fueron fuese fueseis fuesemos fuesen fueses fui fuimos fuiste fuisteis ha habeis
    habia habiais habiamos habian habias habida habidas habido habidos habiendo habra habran
    habras habre habreis habremos habria habriais habriamos habrian habrias hace hacer han has
    hasta hay haya hayais hayamos hayan hayas he hemos hizo hube hubiera hubierais hubieramos
    hubieran hubieras hubieron hubiese hubieseis hubiesemos hubiesen hubieses hubimos hubiste
    hubisteis hubo la las le les lista llama llamado lo los mas me mi mia mias mio mios mis
    mucho muchos muestra muy nada ni no nombre nos nosotras nosotros nuestra nuestras nuestro
    nuestros o os otra otras otro otros para pero poco por porque que quien quienes se sea seais
    seamos sean seas segun sentid sentida sentidas sentido sentidos sera seran seras sere sereis
    seremos seria seriais seriamos serian serias si siente sin sintiendo sobre sois somos son
    soy su sus suya suyas suyo suyos tambien tanto te tendra tendran tendras tendre tendreis
    tendremos tendria tendriais tendriamos tendrian tendrias tened teneis tenemos tenga tengais
    tengamos tengan tengas tengo tenia teniais teniamos tenian tenias tenida tenidas tenido
    tenidos teniendo ti tiene tienen tienes tipo todo todos tu tus tuve tuviera tuvierais
    tuvieramos tuvieran tuvieras tuvieron tuviese tuvieseis tuviesemos tuviesen tuvieses tuvimos
    tuviste tuvisteis tuvo tuya tuyas tuyo tuyos un una uno unos vosostras vosostros vuestra
    vuestras vuestro vuestros y ya yo
    """,
    "fa": """
    از است ان این با بر برای به بود تا در را شد می نیز های هم و چرا چند چه چگونه کجا کدام که کی
    یک
    """,
    "fi": """
    ei eivat emme en et etta ette han haneen hanella hanelle hanelta hanen hanessa hanesta hanet
    hanta he heidan heidat heihin heilla heille heilta heissa heista heita itse ja johon joiden
    joihin joiksi joilla joille joilta joina joissa joista joita joka joksi jolla jolle jolta
    jona jonka jos jossa josta jota jotka kanssa keiden keihin keiksi keilla keille keilta keina
    keissa keista keita keneen keneksi kenella kenelle kenelta kenen kenena kenessa kenesta
    kenet keta ketka koska kuin kuinka kuka kun me meidan meidat meihin meilla meille meilta
    meissa meista meita mihin mika miksi milla mille milloin milta mina minka minua minulla
    minulle minulta minun minussa minusta minut minuun missa mista mita miten mitka monta mukaan
    mutta naiden naihin naiksi nailla naille nailta naina naissa naista naita nama ne niiden
    niihin niiksi niilla niille niilta niin niina niissa niista niita noiden noihin noiksi
    noilla noille noilta noin noina noissa noista noita nuo nyt ole olemme olen olet olette oli
    olimme olin olisi olisimme olisin olisit olisitte olisivat olit olitte olivat olla olleet
    ollut on ovat paljon poikki se seka sen siihen siina siita siksi silla sille silta sina
    sinua sinulla sinulle sinulta sinun sinussa sinusta sinut sinuun sita tahan tai taksi talla
    talle talta tama taman tana tassa tasta tata te teidan teidat teihin teilla teille teilta
    teissa teista teita tuo tuohon tuoksi tuolla tuolle tuolta tuon tuona tuossa tuosta tuota
    vaan vai vaikka yli
    """,
    "fr": """
    a ai aie aient aies ait appelle as au aura aurai auraient aurais aurait auras aurez auriez
    aurions aurons auront aussi aux avaient avais avait avec avez aviez avions avons ayant
    ayante ayantes ayants ayez ayons c ce ces combien comme comment d dans de decris depuis des
    dit donne dont du elle en entre es est et etaient etais etait etant etante etantes etants
    ete etee etees etes etiez etions eu eue eues eumes eurent eus eusse eussent eusses eussiez
    eussions eut eutes eux explique faire fait fumes furent fus fusse fussent fusses fussiez
    fussions fut futes il j je l la laquelle le lequel leur liste lui m ma mais me meme mes moi
    moins mon montre n ne nom nomme nos notre nous on ont ou par pas plus pour pourquoi qu quand
    que quel quelle quelles quels qui quoi s sa sans se selon sera serai seraient serais serait
    seras serez seriez serions serons seront ses si soient sois soit sommes son sont sorte soyez
    soyons suis sur t ta te tes toi ton tous tout toute toutes tres tu type un une vos votre
    vous y
    """,
    "he": """
    או איזה איזו איך אילו איפה אל אשר את גם האם הוא היא היה היו היכן היתה הם הן זה זו כי כמה לא
    למה מדוע מה מי מן מתי על עם של
    """,
    "hi": """
    इस उस एक और कब कया कयों कहाँ कहां का कितना कितनी कितने किस किसने किसे की के कैसे को कौन
    कौनसा तो था थी थे नहीं ने पर भी में यह या ये लिए वह वे से ही है हैं हो होता होती
    """,
    "hu": """
    a abban ahhoz ahogy ahol aki akik akkor alatt altal altalaban amely amelyek amelyekben
    amelyeket amelyet amelynek ami amig amikor amit amolyan annak arra arrol at az azert azok
    azon azonban azt aztan azutan azzal bar be belul benne cikk cikkek cikkeket csak de e ebben
    eddig egesz egy egyeb egyes egyetlen egyik egyre ehhez ekkor el eleg ellen elo eloszor elott
    elso emilyen en ennek eppen erre es ez ezek ezen ezert ezt ezzel fel fele hanem hany hiszen
    hogy hogyan hol hova igen igy ill ill. illetve ilyen ilyenkor ismet ison itt jo jobban jol
    kell kellett keressunk keresztul ki kik kivul kozott kozul legalabb legyen lehet lehetett
    lenne lenni lesz lett maga magat majd mar mas masik meg mellett mely melyek melyik mennyi
    mert mi miert mig mikor milyen minden mindenki mindent mindig mint mintha mit mivel most
    nagy nagyobb nagyon ne neha nehany nekem neki nelkul nem nincs o ok oket olyan ossze ott
    pedig persze ra s sajat sem semmi sok sokat sokkal szamara szemben szerint szinte talan
    tehat teljes tobb tovabb tovabba ugy ugyanis uj ujabb ujra utan utana utolso vagy vagyis
    vagyok valaki valami valamint valo van vannak vele vissza viszont volna volt voltak voltam
    voltunk
    """,
    "id": """
    adalah apa atau bagaimana berapa dalam dan dari dengan di ini itu kapan ke kenapa mana
    mengapa oleh pada sebagai siapa telah tidak untuk yang
    """,
    "it": """
    a abbia abbiamo abbiano abbiate ad agl agli ai al all alla alle allo anche avemmo avendo
    avesse avessero avessi avessimo aveste avesti avete aveva avevamo avevano avevate avevi
    avevo avra avrai avranno avrebbe avrebbero avrei avremmo avremo avreste avresti avrete avro
    avuta avute avuti avuto c che chi chiama chiamato ci coi col come con contro cosa cui da
    dagl dagli dai dal dall dalla dalle dallo degl degli dei del dell della delle dello descrivi
    di dice dimmi dov dove e ebbe ebbero ebbi ed elenca era erano eravamo eravate eri ero
    essendo fa faccia facciamo facciano facciate faccio facemmo facendo facesse facessero
    facessi facessimo faceste facesti faceva facevamo facevano facevate facevi facevo fai fanno
    fara farai faranno fare farebbe farebbero farei faremmo faremo fareste faresti farete faro
    fece fecero feci fosse fossero fossi fossimo foste fosti fu fui fummo furono gli ha hai
    hanno ho i il in io l la le lei li lo loro lui ma mi mia mie miei mio mostra ne negl negli
    nei nel nell nella nelle nello noi nome non nostra nostre nostri nostro o per perche piu
    quale quali quando quanta quante quanti quanto quella quelle quelli quello questa queste
    questi questo sara sarai saranno sarebbe sarebbero sarei saremmo saremo sareste saresti
    sarete saro se secondo sei si sia siamo siano siate siete sono spiega sta stai stando stanno
    stara starai staranno starebbe starebbero starei staremmo staremo stareste staresti starete
    staro stava stavamo stavano stavate stavi stavo stemmo stesse stessero stessi stessimo
    steste stesti stette stettero stetti stia stiamo stiano stiate sto su sua sue sugl sugli sui
    sul sull sulla sulle sullo suo suoi ti tipo tra tu tua tue tuo tuoi tutti tutto un una uno
    vi voi vostra vostre vostri vostro
    """,
    "ko": """
    무엇 무엇을 무엇이 무엇인가 무엇입니까 누구 누가 누구입니까 언제 언제입니까
    어디 어디에 어디에서 어떻게 얼마나 얼마 왜 어떤 어느 몇 이 그 저 것 수 및
    또는 있는 있습니까 했습니까 됩니까 입니까 합니까 대한
    """,
    "nl": """
    aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus
    een eens en er ge geen genoemd geweest haar had heb hebben heeft heet hem het hier hij hoe
    hoeveel hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na
    naam naar niet niets nog nu of om omdat onder ons ook op over reeds soort te tegen toch toen
    tot u uit uw van veel volgens voor waar waarmee waarom wanneer want waren was wat welk welke
    werd wezen wie wil worden wordt zal ze zelf zich zij zijn zo zonder zou
    """,
    "no": """
    a alle at av bade bae bare begge ble blei bli blir blitt da de deg dei deim deira deires dem
    den denne der dere deres det dette di din disse ditt du dykk dykkar eg ein eit eitt eller
    elles en enn er et ett etter for fordi fra før ha hadde han hans har hennar henne hennes her
    hja ho hoe honom hoss hossen hun hva hvem hver hvilke hvilken hvilket hvis hvor hvordan
    hvorfor i ikke ikkje ingen ingi inkje inn inni ja jeg kalles kan kom korleis korso kun kunne
    kva kvar kvarhelst kven kvi kvifor man mange me med medan meg meget mellom men mi min mine
    mitt mot mye mykje na nar navn ned no noe noen noka noko nokon nokor nokre og ogsa om opp
    oss over pa sa samme sann seg selv si sia sidan siden sin sine sitt sjøl skal skulle slik so
    som somme somt til type um upp ut uten var vart varte ved vere verte vi vil ville vore vors
    vort være vært
    """,
    "pl": """
    a ale byc byl byla byli bylo co czy dla dlaczego do gdzie i ich ile jak jaka jaki jakie jako
    jego jej jest kiedy kto ktora ktore ktory lub ma maja na nad nazwa nazywa nie o od oraz po
    pod przez przy sa sie ta tak te tego tej ten to tych tym w we z za ze
    """,
    "pt": """
    a ao aos aquela aquelas aquele aqueles aquilo as ate chama chamado com como da das de dela
    delas dele deles depois descreva diz do dos e ela elas ele eles em entre era eram eramos
    essa essas esse esses esta estamos estao estas estava estavam estavamos este esteja estejam
    estejamos estes esteve estive estivemos estiver estivera estiveram estiveramos estiverem
    estivermos estivesse estivessem estivessemos estou eu explique faz fazer fez foi fomos for
    fora foram foramos forem formos fosse fossem fossemos fui ha haja hajam hajamos hao havemos
    hei houve houvemos houver houvera houveram houveramos houverao houverei houverem houveremos
    houveria houveriam houveriamos houvermos houvesse houvessem houvessemos isso isto ja lhe
    lhes liste mais mas me mesmo meu meus minha minhas mostre muito na nao nas nem no nome nos
    nossa nossas nosso nossos num numa o onde os ou para pela pelas pelo pelos por porque quais
    qual quando quanta quantas quanto quantos que quem sao se segundo seja sejam sejamos sem
    sera serao serei seremos seria seriam seriamos seu seus so somos sou sua suas tambem te tem
    temos tenha tenham tenhamos tenho tera terao terei teremos teria teriam teriamos teu teus
    teve tinha tinham tinhamos tipo tive tivemos tiver tivera tiveram tiveramos tiverem tivermos
    tivesse tivessem tivessemos tu tua tuas um uma voce voces vos
    """,
    "ro": """
    a aceasta acest al ale au ca cand care cat cata cate cati ce cine cu cum dar de din dupa era
    este fi fost in intre la mai nu o pe pentru prin sa sau se si sunt un unde
    """,
    "ru": """
    а без более больше будет будто бы был была были было быть в вам вас вдруг ведь вид во вот
    впрочем все всегда всего всех всю вы где да даже два для до другои его ее еи ему если есть
    еще ж же за зачем здесь и из или им имя иногда их к как какая какие каким каких какое какои
    какую когда конечно которая которое которые которыи кто куда ли лучше между меня мне много
    может можно мои моя мы на над надо называется называют наконец нас не него нее неи нельзя
    нет ни нибудь никогда ним них ничего но ну о об объясни один он она они опиши опять от
    откуда перед по под покажи после потом потому почему почти при про раз разве расскажи с сам
    свою себе себя сеичас сколько со совсем так такои там тебя тем теперь тип то тогда того тоже
    только том тот три тут ты у уж уже хорошо хоть чего чем через что чтоб чтобы чуть эти этого
    этои этом этот эту я является
    """,
    "sv": """
    alla allt an ar at att av blev bli blir blivit da dar de dem den denna deras dess dessa det
    detta dig din dina ditt du efter ej eller en er era ert ett for fran ha hade han hans har
    henne hennes hon honom hur i icke ingen inom inte jag ju kallas kan kunde man manga med
    mellan men mig min mina mitt mot mycket nagon nagot nagra namn nar ni nu och om oss over pa
    sa sadan sadana sadant samma sedan sig sin sina sitta sjalv skulle som till typ under upp ut
    utan vad var vara varfor varit varje vars vart vem vi vid vilka vilkas vilken vilket
    """,
    "tr": """
    acaba adi ama aslinda az bazi belki biri birkac birsey biz bu cok cunku da daha de defa diye
    eger en gibi hangi hangisi hem hep hepsi her hic icin ile ise kac kadar kez ki kim kimdir
    kimi kimin mi mu nasil ne neden nedir nerde nerede nereye nicin niye o olan olarak oldu
    sanki sey siz su tum tur ve veya ya yani zaman
    """,
    "uk": """
    а або але був була були було бути в від де для до з за и иого коли куди на не по про скільки
    та тои ті у хто це чи чому що як яка яке якии які є і із іх іі
    """,
    "vi": """
    ai bao cac cho co cua dau den do duoc gi khi khong la mot nao nay nguoi nhieu nhung o sao
    tai the trong tu va voi
    """,
}

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(unicodedata.normalize("NFKD", words).split())
    for language, words in _WORDS.items()
}

ALL_FUNCTION_WORDS = frozenset().union(*FUNCTION_WORDS.values())

_UNSPACED = """
    为什么 為什麼 什么时候 什麼時候 哪一年 多长时间 怎么样 有多少 是什么 是什麼
    叫什么 什么 什麼 多少 哪里 哪裡 哪个 哪個 哪些 哪位 哪年 哪種 哪种 谁的
    誰的 怎么 怎麼 怎样 如何 是否 何时 何處 何处 可以 以及 或者 他们 她们 它们
    我们 这个 那个 这些 那些 一个 之间 どのように どれくらい ですか ますか ました
    でした とは何 について なぜ どこ どの どれ いつ だれ 誰が 何が 何を 何人
    何年 です ます から まで より として による อะไร ที่ไหน
    เมื่อไร เมื่อไหร่ อย่างไร ทำไม เท่าไร
    เท่าไหร่ ใคร ไหน หรือไม่ เป็น และ ของ ที่ ใน
    谁 誰 哪 几 幾 吗 嗎 呢 的 了 是 在 与 與 或 被 は が を に の と
    で も か
"""

UNSPACED_FUNCTION_WORDS: tuple[str, ...] = tuple(sorted(_UNSPACED.split(), key=len, reverse=True))
"""Longest first, so that a part is not cut out of a whole."""
