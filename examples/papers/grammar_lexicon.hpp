#pragma once

/// The words of the bundled English-German corpus (papers/grammar_corpus.hpp). Each English word has one German translation
/// wherever the grammar uses it. The lexicon excludes ambiguous words and words with two identical forms ("read", "fish",
/// "sheep"). To add a word, add a line to a table.
namespace papers::grammar {

using namespace attn;

enum class Gender { masculine, feminine, neuter };

/// Semantic kinds of nouns, which verbs and adjectives select. One bit each, since a noun can have several.
enum Kind : unsigned {
  person = 1,
  animal = 2,
  thing = 4,
  food = 8,
  written = 16,    // can be written
  opening = 32,    // can be opened and closed
  machine = 64,    // can be repaired and cleaned
  cookable = 128,  // can be cooked
  location = 256,
  unowned = 512  // unidiomatic after my, his or her
};

/// A weak noun uses its plural form in the singular too, except in the nominative: der Junge, den Jungen.
struct Noun {
  const char *english, *english_plural;
  Gender gender;
  const char *german, *german_plural;
  unsigned kinds;
  bool weak = false;
};

/// Dictionaries mark gender by the article.
inline constexpr Gender der = Gender::masculine, die = Gender::feminine, das = Gender::neuter;

inline constexpr Noun nouns[] = {
    {"man", "men", der, "Mann", "Männer", person | unowned},
    {"woman", "women", die, "Frau", "Frauen", person | unowned},
    {"child", "children", das, "Kind", "Kinder", person},
    {"girl", "girls", das, "Mädchen", "Mädchen", person | unowned},
    {"boy", "boys", der, "Junge", "Jungen", person | unowned, true},
    {"student", "students", der, "Student", "Studenten", person, true},
    {"neighbour", "neighbours", der, "Nachbar", "Nachbarn", person, true},
    {"teacher", "teachers", der, "Lehrer", "Lehrer", person},
    {"doctor", "doctors", der, "Arzt", "Ärzte", person},
    {"friend", "friends", der, "Freund", "Freunde", person},
    {"mother", "mothers", die, "Mutter", "Mütter", person},
    {"sister", "sisters", die, "Schwester", "Schwestern", person},
    {"brother", "brothers", der, "Bruder", "Brüder", person},
    {"dog", "dogs", der, "Hund", "Hunde", animal},
    {"cat", "cats", die, "Katze", "Katzen", animal},
    {"horse", "horses", das, "Pferd", "Pferde", animal},
    {"book", "books", das, "Buch", "Bücher", thing | written},
    {"letter", "letters", der, "Brief", "Briefe", thing | written | opening},
    {"car", "cars", das, "Auto", "Autos", thing | machine},
    {"bicycle", "bicycles", das, "Fahrrad", "Fahrräder", thing | machine},
    {"lamp", "lamps", die, "Lampe", "Lampen", thing | machine},
    {"table", "tables", der, "Tisch", "Tische", thing | machine},
    {"chair", "chairs", der, "Stuhl", "Stühle", thing | machine},
    {"key", "keys", der, "Schlüssel", "Schlüssel", thing},
    {"picture", "pictures", das, "Bild", "Bilder", thing},
    {"coat", "coats", der, "Mantel", "Mäntel", thing},
    {"house", "houses", das, "Haus", "Häuser", thing | machine},
    {"bag", "bags", die, "Tasche", "Taschen", thing | opening},
    {"door", "doors", die, "Tür", "Türen", thing | opening | machine},
    {"window", "windows", das, "Fenster", "Fenster", thing | opening | machine},
    {"apple", "apples", der, "Apfel", "Äpfel", food},
    {"cake", "cakes", der, "Kuchen", "Kuchen", food},
    {"egg", "eggs", das, "Ei", "Eier", food | cookable},
    {"soup", "soups", die, "Suppe", "Suppen", food | cookable},
    {"potato", "potatoes", die, "Kartoffel", "Kartoffeln", food | cookable},
};

/// A singular noun with its own preposition. The German preposition takes the dative here.
struct Place {
  const char *english_preposition, *german_preposition;
  Noun noun;
};

inline constexpr Place places[] = {
    {"in", "in", {"garden", "", der, "Garten", "", location}},   {"in", "in", {"kitchen", "", die, "Küche", "", location}},
    {"in", "in", {"park", "", der, "Park", "", location}},       {"in", "in", {"school", "", die, "Schule", "", location}},
    {"in", "in", {"village", "", das, "Dorf", "", location}},    {"in", "in", {"city", "", die, "Stadt", "", location}},
    {"in", "in", {"hotel", "", das, "Hotel", "", location}},     {"in", "in", {"forest", "", der, "Wald", "", location}},
    {"at", "an", {"station", "", der, "Bahnhof", "", location}}, {"on", "auf", {"bridge", "", die, "Brücke", "", location}},
};

/// Endings attach to the stem, which differs from the bare form in müde and teuer.
struct Adjective {
  const char *english, *german, *german_stem;
  unsigned kinds;
};

inline constexpr Adjective adjectives[] = {
    {"old", "alt", "alt", person | animal | thing | location},
    {"young", "jung", "jung", person | animal},
    {"small", "klein", "klein", person | animal | thing | food | location},
    {"big", "groß", "groß", animal | thing | food | location},
    {"tired", "müde", "müd", person | animal},
    {"happy", "glücklich", "glücklich", person},
    {"clever", "klug", "klug", person | animal},
    {"sick", "krank", "krank", person | animal},
    {"new", "neu", "neu", thing | location},
    {"beautiful", "schön", "schön", person | animal | thing | location},
    {"expensive", "teuer", "teur", thing | food},
    {"cheap", "billig", "billig", thing | food},
    {"red", "rot", "rot", thing},
    {"good", "gut", "gut", food},
};

/// The objects of a verb. dative_accusative: first a person in the dative, then a thing in the accusative.
enum class Frame { none, accusative, dative, dative_accusative };

/// The German plural equals the infinitive. A separable verb leaves its prefix at the end of a main clause: ruft ... an.
struct Verb {
  const char *english, *english_third, *english_past;
  const char *prefix, *german, *german_third, *participle;
  Frame frame;
  unsigned subjects, objects;
  bool with_sein = false;    // ist angekommen, not hat
  bool for_someone = false;  // can take "for somebody"
};

inline constexpr Verb verbs[] = {
    {"sleep", "sleeps", "slept", "", "schlafen", "schläft", "geschlafen", Frame::none, person | animal, 0},
    {"work", "works", "worked", "", "arbeiten", "arbeitet", "gearbeitet", Frame::none, person, 0},
    {"sing", "sings", "sang", "", "singen", "singt", "gesungen", Frame::none, person, 0},
    {"dance", "dances", "danced", "", "tanzen", "tanzt", "getanzt", Frame::none, person, 0},
    {"wait", "waits", "waited", "", "warten", "wartet", "gewartet", Frame::none, person | animal, 0},
    {"play", "plays", "played", "", "spielen", "spielt", "gespielt", Frame::none, person | animal, 0},
    {"arrive", "arrives", "arrived", "an", "kommen", "kommt", "angekommen", Frame::none, person, 0, true},
    {"buy", "buys", "bought", "", "kaufen", "kauft", "gekauft", Frame::accusative, person, thing | food, false, true},
    {"sell", "sells", "sold", "", "verkaufen", "verkauft", "verkauft", Frame::accusative, person, thing | food},
    {"find", "finds", "found", "", "finden", "findet", "gefunden", Frame::accusative, person, thing | animal},
    {"see", "sees", "saw", "", "sehen", "sieht", "gesehen", Frame::accusative, person | animal, person | animal | thing},
    {"look for", "looks for", "looked for", "", "suchen", "sucht", "gesucht", Frame::accusative, person, person | thing},
    {"clean", "cleans", "cleaned", "", "putzen", "putzt", "geputzt", Frame::accusative, person, machine},
    {"repair", "repairs", "repaired", "", "reparieren", "repariert", "repariert", Frame::accusative, person, machine, false,
     true},
    {"write", "writes", "wrote", "", "schreiben", "schreibt", "geschrieben", Frame::accusative, person, written, false,
     true},
    {"eat", "eats", "ate", "", "essen", "isst", "gegessen", Frame::accusative, person | animal, food},
    {"cook", "cooks", "cooked", "", "kochen", "kocht", "gekocht", Frame::accusative, person, cookable, false, true},
    {"visit", "visits", "visited", "", "besuchen", "besucht", "besucht", Frame::accusative, person, person},
    {"ask", "asks", "asked", "", "fragen", "fragt", "gefragt", Frame::accusative, person, person},
    {"call", "calls", "called", "an", "rufen", "ruft", "angerufen", Frame::accusative, person, person},
    {"invite", "invites", "invited", "ein", "laden", "lädt", "eingeladen", Frame::accusative, person, person},
    {"open", "opens", "opened", "auf", "machen", "macht", "aufgemacht", Frame::accusative, person, opening},
    {"close", "closes", "closed", "zu", "machen", "macht", "zugemacht", Frame::accusative, person, opening},
    {"help", "helps", "helped", "", "helfen", "hilft", "geholfen", Frame::dative, person, person | animal},
    {"thank", "thanks", "thanked", "", "danken", "dankt", "gedankt", Frame::dative, person, person},
    {"follow", "follows", "followed", "", "folgen", "folgt", "gefolgt", Frame::dative, person | animal, person | animal,
     true},
    {"give", "gives", "gave", "", "geben", "gibt", "gegeben", Frame::dative_accusative, person, thing | food},
    {"show", "shows", "showed", "", "zeigen", "zeigt", "gezeigt", Frame::dative_accusative, person, thing},
    {"send", "sends", "sent", "", "schicken", "schickt", "geschickt", Frame::dative_accusative, person, thing},
    {"bring", "brings", "brought", "", "bringen", "bringt", "gebracht", Frame::dative_accusative, person, thing | food},
};

/// Verbs with a that-clause: "knows that ...", "weiß, dass ...".
struct ThatVerb {
  const char *english, *english_third, *german, *german_third;
};

inline constexpr ThatVerb that_verbs[] = {
    {"know", "knows", "wissen", "weiß"},
    {"believe", "believes", "glauben", "glaubt"},
    {"say", "says", "sagen", "sagt"},
    {"hope", "hopes", "hoffen", "hofft"},
};

/// Personal pronouns with the English object form and the German cases.
struct Pronoun {
  const char *english, *english_object;
  const char* german[3];  // nominative, accusative, dative
  bool plural;
};

inline constexpr Pronoun he{"he", "him", {"er", "ihn", "ihm"}, false}, she{"she", "her", {"sie", "sie", "ihr"}, false},
    we{"we", "us", {"wir", "uns", "uns"}, true}, they{"they", "them", {"sie", "sie", "ihnen"}, true};

/// "it" for a noun of each German gender.
inline constexpr Pronoun it[] = {{"it", "it", {"er", "ihn", "ihm"}, false},
                                 {"it", "it", {"sie", "sie", "ihr"}, false},
                                 {"it", "it", {"es", "es", "ihm"}, false}};

}  // namespace papers::grammar
