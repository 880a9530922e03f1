"""What the classes of some sets are about, in a few words, as a user would say it who has no labels yet."""

from __future__ import annotations

TREC = {
    "ABBR": "abbreviation: what does it stand for",
    "DESC": "description: a definition, a reason, a manner; what is it, why, how does it work",
    "ENTY": "entity: an animal, colour, food, product, sport, language or other thing",
    "HUM": "a person or a group of people: who, whose name",
    "LOC": "a place: where, which city, country, state, mountain",
    "NUM": "a number: how many, how much, how long, what year, date, price",
}
SMS_SPAM = {
    "ham": "a message from a friend: where are you, see you later, call me when you are home",
    "spam": "an advertisement: you have won a prize, claim it now, free ringtones, text this number",
}
AG_NEWS = {
    "Business": "companies, markets, shares, oil prices, the economy",
    "Sci/Tech": "science and technology: computers, software, the internet, space, research",
    "Sports": "matches, games, teams, players, the season, the championship",
    "World": "international news: government, election, president, war, attack, troops",
}
NEWSGROUPS = {
    "alt.atheism": "atheism: arguments about the existence of God",
    "comp.graphics": "computer graphics: images, file formats, rendering, animation",
    "comp.os.ms-windows.misc": "Microsoft Windows: drivers, files, settings",
    "comp.sys.ibm.pc.hardware": "hardware of IBM PCs: disks, controllers, cards, the BIOS",
    "comp.sys.mac.hardware": "hardware of Apple Macintosh computers",
    "comp.windows.x": "the X Window System: widgets, Motif, X servers",
    "misc.forsale": "things for sale: price, offer, shipping, condition",
    "rec.autos": "cars: engines, dealers, driving",
    "rec.motorcycles": "motorcycles: bikes, riding, helmets",
    "rec.sport.baseball": "baseball: pitchers, innings, teams",
    "rec.sport.hockey": "ice hockey: goals, playoffs, the NHL",
    "sci.crypt": "cryptography: encryption, keys, privacy, the Clipper chip",
    "sci.electronics": "electronics: circuits, voltage, chips, radio",
    "sci.med": "medicine: diseases, doctors, patients, drugs",
    "sci.space": "space: orbit, launch, NASA, the moon",
    "soc.religion.christian": "Christianity: Jesus, the Bible, the church, faith",
    "talk.politics.guns": "guns: firearms, gun control, the right to bear arms",
    "talk.politics.mideast": "the Middle East: Israel, Arabs, Turkey, Armenia",
    "talk.politics.misc": "politics: government, taxes, rights, the president",
    "talk.religion.misc": "religion: beliefs, morality, cults, scripture",
}
OHSUMED = {
    "C01": "bacterial infections and mycoses",
    "C02": "virus diseases",
    "C03": "parasitic diseases",
    "C04": "neoplasms, cancer, tumours",
    "C05": "musculoskeletal diseases, bones, joints",
    "C06": "digestive system diseases, stomach, liver, bowel",
    "C07": "stomatognathic diseases, mouth, teeth, jaw",
    "C08": "respiratory tract diseases, lungs, asthma",
    "C09": "otorhinolaryngologic diseases, ear, nose, throat",
    "C10": "nervous system diseases, brain, epilepsy, stroke",
    "C11": "eye diseases",
    "C12": "urologic and male genital diseases, kidney, prostate",
    "C13": "female genital diseases and pregnancy complications",
    "C14": "cardiovascular diseases, heart, blood vessels",
    "C15": "hemic and lymphatic diseases, blood, anemia, leukemia",
    "C16": "neonatal diseases and abnormalities, congenital defects",
    "C17": "skin and connective tissue diseases",
    "C18": "nutritional and metabolic diseases, diabetes, obesity",
    "C19": "endocrine diseases, thyroid, hormones",
    "C20": "immunologic diseases, allergy, autoimmune disease, AIDS",
    "C21": "disorders of environmental origin, injuries, poisoning",
    "C22": "animal diseases",
    "C23": "pathological conditions, signs and symptoms, pain, fever",
}
