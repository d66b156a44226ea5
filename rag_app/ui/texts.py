"""Every text of the page, in English and German."""

from rag_app.errors import DatabaseUnavailableError, NotFoundError, RagAppError

LANGUAGES = ("en", "de")
ENGLISH, GERMAN = range(2)

TEXTS: dict[str, tuple[str, str]] = {
    # the frame
    "app": ("Pincite", "Pincite"),
    "skip": ("Skip to the content", "Zum Inhalt springen"),
    "menu": ("Menu", "Menü"),
    "close_menu": ("Close menu", "Menü schließen"),
    "navigation": ("Conversations and library", "Gespräche und Bibliothek"),
    "library": ("Library", "Bibliothek"),
    "conversations": ("Conversations", "Gespräche"),
    "new_conversation": ("New question", "Neue Frage"),
    "no_conversations": ("Your questions are kept here.", "Hier bleiben deine Fragen stehen."),
    "rename": ("Rename", "Umbenennen"),
    "rename_it": ("Rename “{title}”", "„{title}“ umbenennen"),
    "remove_it": ("Remove “{title}”", "„{title}“ entfernen"),
    "new_name": ("New name", "Neuer Name"),
    "save": ("Save", "Speichern"),
    "cancel": ("Cancel", "Abbrechen"),
    "remove": ("Remove", "Entfernen"),
    "keep": ("Keep", "Behalten"),
    "remove_conversation": ("Remove this conversation?", "Dieses Gespräch entfernen?"),
    "dark": ("Switch to dark", "Dunkel anzeigen"),
    "light": ("Switch to light", "Hell anzeigen"),
    "sign_out": ("Sign out", "Abmelden"),
    "connection_lost": (
        "The connection to Pincite is lost. Trying again …",
        "Die Verbindung zu Pincite ist unterbrochen. Neuer Versuch …",
    ),
    "crashed": (
        "This part of the page failed. Reload the page to go on; nothing stored is lost.",
        "Dieser Teil der Seite ist ausgefallen. Bitte neu laden; Gespeichertes bleibt erhalten.",
    ),
    "went_wrong": (
        "Something went wrong here (reference {reference}). Please try again.",
        "Hier ist etwas schiefgegangen (Kennung {reference}). Bitte noch einmal versuchen.",
    ),
    "gone": (
        "This is no longer in your library.",
        "Das ist nicht mehr in deiner Bibliothek.",
    ),
    "database_away": (
        "The database does not answer; it may be starting again.",
        "Die Datenbank antwortet nicht; vielleicht startet sie gerade neu.",
    ),
    "dismiss": ("Dismiss", "Ausblenden"),
    "loading": ("Loading …", "Wird geladen …"),
    # the conversation
    "conversation": ("Conversation", "Gespräch"),
    "ask_title": ("Ask your library", "Frag deine Bibliothek"),
    "ask_hint": (
        "Each statement of the answer opens the page, passage or second it rests on.",
        "Jede Aussage der Antwort öffnet die Seite, Stelle oder Sekunde, auf der sie beruht.",
    ),
    "empty_title": ("Your library is empty", "Deine Bibliothek ist leer"),
    "empty_hint": (
        "Add PDFs, notes, web pages or videos first. Then ask about them here.",
        "Füge zuerst PDFs, Notizen, Webseiten oder Videos hinzu. Dann frag hier danach.",
    ),
    "add_documents": ("Add documents", "Dokumente hinzufügen"),
    "question": ("Your question", "Deine Frage"),
    "question_placeholder": ("Ask a question", "Stell eine Frage"),
    "ask": ("Ask", "Fragen"),
    "stop": ("Stop", "Anhalten"),
    "ask_again": ("Ask again", "Noch einmal fragen"),
    "searching": ("Searching your library …", "Deine Bibliothek wird durchsucht …"),
    "reading": ("Reading the passages …", "Die Stellen werden gelesen …"),
    "stopped": ("Stopped.", "Angehalten."),
    "interrupted": (
        "The answer was interrupted when Pincite stopped.",
        "Die Antwort brach ab, als Pincite beendet wurde.",
    ),
    "failed": ("The answer could not be finished.", "Die Antwort konnte nicht beendet werden."),
    "abstained": ("Not in your library", "Nicht in deiner Bibliothek"),
    "unsupported": (
        "No passage supports this sentence",
        "Keine Stelle belegt diesen Satz",
    ),
    "sources": ("Sources", "Quellen"),
    "source": ("Source", "Quelle"),
    "more_sources": ("Show all sources", "Alle Quellen zeigen"),
    "no_conversation": (
        "There is no such conversation. It may have been removed.",
        "Dieses Gespräch gibt es nicht. Vielleicht wurde es entfernt.",
    ),
    "answer_finished": ("Answer finished.", "Antwort fertig."),
    "earlier_turns": ("Show earlier questions", "Frühere Fragen zeigen"),
    # the evidence
    "evidence": ("Evidence", "Beleg"),
    "close_evidence": ("Close the evidence", "Beleg schließen"),
    "open_document": ("Open the document", "Dokument öffnen"),
    "original_file": ("Original file", "Originaldatei"),
    "open_live": ("Open the live page", "Seite im Netz öffnen"),
    "watch": ("Watch on YouTube", "Auf YouTube ansehen"),
    "play": ("Play from {time}", "Ab {time} abspielen"),
    "play_hint": ("Loads the player from YouTube.", "Lädt den Player von YouTube."),
    "player": ("Video player", "Videoplayer"),
    "transcript": ("Transcript", "Mitschrift"),
    "cited_words": ("Cited words", "Zitierte Worte"),
    "page_image": ("Page {page} of “{title}”", "Seite {page} von „{title}“"),
    "page_of": ("Page {page} of {count}", "Seite {page} von {count}"),
    "previous_page": ("Previous page", "Vorige Seite"),
    "next_page": ("Next page", "Nächste Seite"),
    "zoom_in": ("Larger", "Größer"),
    "zoom_out": ("Smaller", "Kleiner"),
    "page_failed": (
        "The image of this page could not be shown.",
        "Das Bild dieser Seite konnte nicht gezeigt werden.",
    ),
    "try_again": ("Try again", "Noch einmal versuchen"),
    "document_gone": (
        "This document is no longer in your library. These are the words that were cited.",
        "Dieses Dokument ist nicht mehr in deiner Bibliothek. Dies sind die zitierten Worte.",
    ),
    "no_document": (
        "There is no such document. It may have been removed.",
        "Dieses Dokument gibt es nicht. Vielleicht wurde es entfernt.",
    ),
    "not_ready": (
        "This document is not ready yet. It opens here as soon as it is.",
        "Dieses Dokument ist noch nicht fertig. Es öffnet sich hier, sobald es so weit ist.",
    ),
    "read_before": ("What comes before", "Was davor steht"),
    "read_after": ("Read on", "Weiterlesen"),
    "to_library": ("Back to the library", "Zurück zur Bibliothek"),
    "page": ("p. {page}", "S. {page}"),
    "slide": ("slide {page}", "Folie {page}"),
    # the library
    "drop_title": ("Drop files or a folder here", "Dateien oder einen Ordner hierher ziehen"),
    "add_files": ("Add files", "Dateien hinzufügen"),
    "drop_now": ("Let go to add", "Loslassen zum Hinzufügen"),
    "choose_files": ("Choose files", "Dateien wählen"),
    "choose_folder": ("Choose a folder", "Ordner wählen"),
    "uploads": ("Uploads", "Übertragungen"),
    "waiting": ("Waiting", "Wartet"),
    "upload_failed": ("Could not be sent.", "Konnte nicht gesendet werden."),
    "upload_lost": (
        "The connection broke while sending.",
        "Die Verbindung brach beim Senden ab.",
    ),
    "cancel_upload": ("Cancel this upload", "Diese Übertragung abbrechen"),
    "url": (
        "Address of a web page, a YouTube video, a playlist or a channel",
        "Adresse einer Webseite, eines YouTube-Videos, einer Playlist oder eines Kanals",
    ),
    "url_placeholder": ("https://…", "https://…"),
    "whole_site": ("All pages of this site", "Alle Seiten dieser Website"),
    "add": ("Add", "Hinzufügen"),
    "own_computer": (
        "This address leads to this computer, where Pincite fetches nothing. Add files above.",
        "Diese Adresse führt auf diesen Rechner, wo Pincite nichts abruft. Dateien: siehe oben.",
    ),
    "no_address": ("“{address}” is not a web address.", "„{address}“ ist keine Webadresse."),
    "documents": ("Documents", "Dokumente"),
    "search_titles": ("Search titles", "Titel suchen"),
    "library_empty": ("Nothing here yet.", "Noch nichts hier."),
    "library_empty_hint": (
        "Drop a PDF above, or paste the address of a page you want to keep.",
        "Zieh oben ein PDF hinein oder füge die Adresse einer Seite ein.",
    ),
    "no_match": ("No title contains “{title}”.", "Kein Titel enthält „{title}“."),
    "library_failed": (
        "The documents could not be listed.",
        "Die Dokumente konnten nicht aufgelistet werden.",
    ),
    "retry": ("Try again", "Noch einmal"),
    "remove_document": (
        "Remove it? Answers keep the words they cite.",
        "Entfernen? Antworten behalten die zitierten Worte.",
    ),
    "previous": ("Newer", "Neuere"),
    "next": ("Older", "Ältere"),
    "range": ("{first} to {last}", "{first} bis {last}"),
    "progress_of": ("Progress of “{title}”", "Fortschritt von „{title}“"),
    # what happens to a document
    "queued": ("Waiting for its turn", "Wartet, bis es an der Reihe ist"),
    "running": ("Working", "In Arbeit"),
    "ready": ("Ready", "Bereit"),
    "failed_document": ("Failed", "Fehlgeschlagen"),
    "cancelled": ("Cancelled", "Abgebrochen"),
    "step_fetch": ("Fetching it", "Wird geholt"),
    "step_extract": ("Reading the text", "Text wird gelesen"),
    "step_chunk": ("Dividing the text", "Text wird gegliedert"),
    "step_embed": ("Learning what it is about", "Inhalt wird erfasst"),
    "step_store": ("Storing it", "Wird gespeichert"),
    "step_publish": ("Making it searchable", "Wird durchsuchbar gemacht"),
    "unchanged": ("Already in your library", "Schon in deiner Bibliothek"),
    "pages_text": ("{count} with text", "{count} mit Text"),
    "pages_ocr": ("{count} recognised", "{count} erkannt"),
    "pages_empty": ("{count} empty", "{count} leer"),
    "pages_garbled": ("{count} unreadable", "{count} unlesbar"),
    "pages_failed": ("{count} failed", "{count} fehlgeschlagen"),
    "pages_one": ("1 page", "1 Seite"),
    "pages_many": ("{count} pages", "{count} Seiten"),
    "slides_one": ("1 slide", "1 Folie"),
    "slides_many": ("{count} slides", "{count} Folien"),
    # kinds of document
    "kind_pdf": ("PDF", "PDF"),
    "kind_markdown": ("Note", "Notiz"),
    "kind_office": ("Document", "Dokument"),
    "kind_slides": ("Presentation", "Präsentation"),
    "kind_spreadsheet": ("Table", "Tabelle"),
    "kind_ebook": ("Book", "Buch"),
    "kind_subtitles": ("Subtitles", "Untertitel"),
    "kind_web": ("Web page", "Webseite"),
    "kind_youtube": ("Video", "Video"),
    "kind_collection": ("Collection", "Sammlung"),
    # what a question is kept to
    "filter": ("Filter", "Filter"),
    "filter_title": ("Keep questions to", "Fragen beschränken auf"),
    "close_filter": ("Close the filters", "Filter schließen"),
    "filters_active": ("Filters in use", "Aktive Filter"),
    "clear_filters": ("Clear all", "Alle entfernen"),
    "remove_filter": ("Remove the filter “{name}”", "Filter „{name}“ entfernen"),
    "filter_kinds": ("Kinds", "Arten"),
    "filter_languages": ("Languages", "Sprachen"),
    "filter_days": ("Added to the library", "Zur Bibliothek hinzugefügt"),
    "filter_since": ("From", "Ab"),
    "filter_until": ("Until", "Bis"),
    "filter_steps": ("Steps", "Schritte"),
    "since_day": ("from {day}", "ab {day}"),
    "until_day": ("until {day}", "bis {day}"),
    "quoted": ("“{title}”", "„{title}“"),
    "removed_one": ("a removed document", "ein entferntes Dokument"),
    "removed_many": ("{count} removed documents", "{count} entfernte Dokumente"),
    "searched_in": ("Searched: {scope}", "Durchsucht: {scope}"),
    "step_of_rewrite": ("Complete follow-ups", "Rückfragen ergänzen"),
    "step_of_rerank": ("Rerank passages", "Stellen neu ordnen"),
    "step_of_hypothetical": ("Imagined answer (HyDE)", "Gedachte Antwort (HyDE)"),
    "without_rewrite": ("Question as written", "Frage wie geschrieben"),
    "without_rerank": ("No reranking", "Ohne Neuordnen"),
    "with_hypothetical": ("Imagined answer", "Gedachte Antwort"),
    # what is said beside an answer
    "model_changed": (
        "The library was prepared with another model, so it was searched by words only.",
        "Ein anderes Modell hat die Bibliothek aufbereitet; durchsucht wurden nur ihre Wörter.",
    ),
    "model_failed": (
        "The embedding model did not answer, so the library was searched by words only.",
        "Das Embedding-Modell antwortete nicht; die Bibliothek wurde nur nach Wörtern durchsucht.",
    ),
    "see_library": ("See the library", "Zur Bibliothek"),
    "missing_words": ("These words occur nowhere:", "Diese Wörter kommen nirgends vor:"),
    "searched_one": (
        "1 document was searched ({kinds}).",
        "1 Dokument wurde durchsucht ({kinds}).",
    ),
    "searched_many": (
        "{count} documents were searched ({kinds}).",
        "{count} Dokumente wurden durchsucht ({kinds}).",
    ),
    "searched_none": (
        "No document was within the filters.",
        "Kein Dokument lag innerhalb der Filter.",
    ),
    "nearest": ("The nearest passages", "Die nächstliegenden Stellen"),
    # documents without vectors of the model in use
    "lacking_one": (
        "1 document was prepared with another model: it is found by its words only.",
        "1 Dokument wurde mit einem anderen Modell aufbereitet und nur über seine Wörter gefunden.",
    ),
    "lacking_many": (
        "{count} documents were prepared with another model: they are found by their words only.",
        "{count} Dokumente wurden mit einem anderen Modell aufbereitet und nur über ihre Wörter "
        "gefunden.",
    ),
    "embed_again": ("Prepare them again", "Neu aufbereiten"),
    "embedding_one": ("Preparing again: 1 document left", "Wird neu aufbereitet: noch 1 Dokument"),
    "embedding_many": (
        "Preparing again: {count} documents left",
        "Wird neu aufbereitet: noch {count} Dokumente",
    ),
    # how an answer was found
    "xray": ("How was this found?", "Wie wurde das gefunden?"),
    "close_xray": ("Close", "Schließen"),
    "back_to_xray": ("Back to how it was found", "Zurück: wie es gefunden wurde"),
    "xray_nothing": (
        "Too little was kept of how this was answered.",
        "Wie diese Antwort gefunden wurde, ist nicht mehr gespeichert.",
    ),
    "xray_searched": ("Searched for", "Gesucht wurde"),
    "xray_imagined": ("Imagined answer", "Gedachte Antwort"),
    "xray_facts": (
        "Snapshot {snapshot} · {model} · {count} tokens of context",
        "Stand {snapshot} · {model} · {count} Tokens Kontext",
    ),
    "xray_terms": ("Its words, the rarest first", "Ihre Wörter, die seltensten zuerst"),
    "xray_term_one": ("in 1 passage", "in 1 Stelle"),
    "xray_term_many": ("in {count} passages", "in {count} Stellen"),
    "xray_unknown": ("Nowhere:", "Nirgends:"),
    "xray_timings": ("Time taken", "Zeitbedarf"),
    "rerank_by": ("Reranked with {method}.", "Neu geordnet mit {method}."),
    "rerank_none": ("Nothing was reranked.", "Nichts wurde neu geordnet."),
    "rerank_failed": (
        "The rerank failed, so the order stayed: {error}",
        "Das Neuordnen misslang, die Reihenfolge blieb: {error}",
    ),
    "xray_stages": ("Stage by stage", "Stufe für Stufe"),
    "xray_cut_off": ("The first {shown} of {count}.", "Die ersten {shown} von {count}."),
    "xray_no_rows": ("Nothing came this far.", "So weit kam nichts."),
    "list_vector": ("Meaning", "Sinn"),
    "list_text": ("Words", "Wörter"),
    "list_fused": ("Fused", "Vereint"),
    "list_kept": ("Diverse", "Gemischt"),
    "list_judged": ("Reranked", "Neu geordnet"),
    "list_context": ("Context", "Kontext"),
    "rank_vector": ("meaning {rank} · {score}", "Sinn {rank} · {score}"),
    "rank_text": ("words {rank} · {score}", "Wörter {rank} · {score}"),
    "rank_fused": ("fused {rank} · {score}", "vereint {rank} · {score}"),
    "rank_kept": ("diverse {rank}", "gemischt {rank}"),
    "rank_judged": ("reranked {rank}", "neu geordnet {rank}"),
    "time_rewrite": ("Rewrite", "Ergänzen"),
    "time_embed": ("Embed", "Einbetten"),
    "time_text": ("By words", "Nach Wörtern"),
    "time_vector": ("By meaning", "Nach Sinn"),
    "time_fuse": ("Fuse", "Vereinen"),
    "time_rerank": ("Rerank", "Neu ordnen"),
    "time_first_token": ("Until the first word", "Bis zum ersten Wort"),
    "time_ground": ("Check the citations", "Belege prüfen"),
    "time_total": ("In all", "Insgesamt"),
    "cut_required": (
        "Lacks a phrase in quotes, or holds a word with a minus.",
        "Ein Wortlaut in Anführungszeichen fehlt, oder ein Wort mit Minus steht darin.",
    ),
    "cut_removed": ("Was removed in the meantime.", "Wurde inzwischen entfernt."),
    "cut_fusion": ("Only a list that does not count had it.", "Nur eine nicht gezählte Liste."),
    "cut_candidates": ("Its score was too low.", "Zu wenig Punkte."),
    "cut_diversity": (
        "Its document had two better passages.",
        "Das Dokument hatte zwei bessere Stellen.",
    ),
    "cut_rerank": (
        "The rerank put it behind those kept.",
        "Beim Neuordnen hinter die behaltenen gerückt.",
    ),
    "cut_passages": ("Stood behind those kept.", "Stand hinter den behaltenen."),
    "cut_copy": ("Another passage says the same.", "Eine andere Stelle sagt dasselbe."),
    "cut_budget": ("Did not fit into the context.", "Passte nicht in den Kontext."),
    "place_replaced": ("Replaced by a newer version", "Durch eine neuere Fassung ersetzt"),
    "place_removed": ("No longer in your library", "Nicht mehr in deiner Bibliothek"),
    "why_title": ("Why not …?", "Warum nicht …?"),
    "why_hint": (
        "Choose a document to see where it fell out.",
        "Wähle ein Dokument und sieh, wo es ausschied.",
    ),
    "why_page": ("Page (optional)", "Seite (optional)"),
    "why_ask": ("Look", "Nachsehen"),
    "why_other": ("Another document", "Anderes Dokument"),
    "stage_unknown": ("Not to be found", "Nicht zu finden"),
    "stage_snapshot": ("Not in the library at the time", "Damals nicht in der Bibliothek"),
    "stage_replaced": ("Came with a newer version", "Kam mit einer neueren Fassung"),
    "stage_filters": ("Left out by the filter", "Vom Filter ausgeschlossen"),
    "stage_legs": ("Neither list brought it", "Keine Liste brachte es"),
    "stage_required": ("Lacks what was required", "Verlangtes fehlt"),
    "stage_removed": ("Removed in the meantime", "Inzwischen entfernt"),
    "stage_fusion": ("Not counted", "Nicht gezählt"),
    "stage_candidates": ("Its score was too low", "Zu wenig Punkte"),
    "stage_diversity": ("Its document had better passages", "Das Dokument hatte bessere Stellen"),
    "stage_rerank": ("The rerank put it too far behind", "Beim Neuordnen zu weit hinten"),
    "stage_passages": ("Stood too far behind", "Stand zu weit hinten"),
    "stage_copy": ("Says the same as another", "Sagt dasselbe wie eine andere"),
    "stage_budget": ("Did not fit", "Passte nicht hinein"),
    "stage_kept": ("Among the candidates", "Unter den Kandidaten"),
    "stage_context": ("It was in the context", "Es war im Kontext"),
    # evaluation
    "evaluation": ("Evaluation", "Auswertung"),
    "evaluation_lead": (
        "Measures how well the right passages are found, on questions whose place is known.",
        "Misst, wie gut die richtigen Stellen gefunden werden, an Fragen mit bekannter Stelle.",
    ),
    "verdict_question": ("Was this answer right?", "War diese Antwort richtig?"),
    "verdict_right": ("Right", "Richtig"),
    "verdict_wrong_source": ("Wrong source", "Falsche Quelle"),
    "verdict_missing": ("Missing", "Fehlt"),
    "verdict_right_hint": (
        "The answer and its sources are right",
        "Die Antwort und ihre Quellen stimmen",
    ),
    "verdict_wrong_source_hint": (
        "It rests on the wrong place",
        "Sie beruht auf der falschen Stelle",
    ),
    "verdict_missing_hint": (
        "The library knows more than this",
        "Die Bibliothek weiß mehr als das",
    ),
    "verdict_kept": (
        "Kept as “{verdict}”; it counts under Evaluation.",
        "Als „{verdict}“ gemerkt; zählt unter Auswertung.",
    ),
    "verdict_forgotten": ("Taken back.", "Zurückgenommen."),
    "my_questions": ("My questions", "Meine Fragen"),
    "golden_empty": ("No question yet", "Noch keine Frage"),
    "golden_empty_hint": (
        "Ask something, then say below the answer whether it is right.",
        "Stell eine Frage und sag unter der Antwort, ob sie stimmt.",
    ),
    "golden_failed": (
        "Your questions could not be read.",
        "Deine Fragen konnten nicht gelesen werden.",
    ),
    "golden_no_place": (
        "Does not count yet: where does the answer stand?",
        "Zählt noch nicht: Wo steht die Antwort?",
    ),
    "golden_gone": (
        "Does not count: its document is no longer in your library.",
        "Zählt nicht: Das Dokument ist nicht mehr in deiner Bibliothek.",
    ),
    "golden_more": (
        "{count} older questions count too but are not shown.",
        "{count} ältere Fragen zählen mit, werden aber nicht gezeigt.",
    ),
    "add_question": ("Add a question", "Frage hinzufügen"),
    "question_needed": ("Write the question.", "Schreib die Frage dazu."),
    "place_document": (
        "Choose the document in which the answer stands.",
        "Wähle das Dokument, in dem die Antwort steht.",
    ),
    "name_place": ("Name the place", "Stelle nennen"),
    "place_at": ("Page, or time such as 3:41", "Seite, oder Zeit wie 3:41"),
    "place_words": ("or words that stand there", "oder Worte, die dort stehen"),
    "place_needed": (
        "Give a page, a time such as 3:41, or some words of the place.",
        "Nenne eine Seite, eine Zeit wie 3:41 oder Worte der Stelle.",
    ),
    "place_no_page": (
        "This document has {count} pages.",
        "Dieses Dokument hat {count} Seiten.",
    ),
    "place_no_pages": (
        "This document has no pages: give a time or some words of the place.",
        "Dieses Dokument hat keine Seiten: Nenne eine Zeit oder Worte der Stelle.",
    ),
    "remove_question": ("Remove this question?", "Diese Frage entfernen?"),
    "measure_title": ("Measure", "Messen"),
    "configurations": ("Ways to search", "Suchwege"),
    "variants": ("Variants", "Varianten"),
    "on_set": ("Measured on", "Gemessen an"),
    "on_folder": ("A folder in BEIR form", "einem Ordner in BEIR-Form"),
    "on_my_questions": ("My questions", "meinen Fragen"),
    "folder_path": ("Path of the folder", "Pfad des Ordners"),
    "folder_needed": (
        "Give the whole path of a folder on this machine.",
        "Nenne den ganzen Pfad eines Ordners auf diesem Rechner.",
    ),
    "start": ("Start", "Starten"),
    "evaluation_begin": ("Beginning …", "Beginnt …"),
    "evaluation_store": ("Storing the corpus …", "Der Korpus wird gespeichert …"),
    "evaluation_embed": ("Embedding the corpus …", "Der Korpus wird eingebettet …"),
    "evaluation_ask": ("Asking the questions …", "Die Fragen werden gestellt …"),
    "run_running": ("Running", "Läuft"),
    "run_done": ("Done", "Fertig"),
    "run_stopped": ("Stopped", "Angehalten"),
    "run_failed": ("Failed", "Gescheitert"),
    "run_interrupted": ("Interrupted", "Unterbrochen"),
    "runs": ("Earlier runs", "Frühere Messungen"),
    "runs_empty": ("Nothing was measured yet.", "Noch wurde nichts gemessen."),
    "runs_failed": ("The runs could not be read.", "Die Messungen konnten nicht gelesen werden."),
    "remove_run": ("Remove this run?", "Diese Messung entfernen?"),
    "result": ("Result", "Ergebnis"),
    "questions_one": ("1 question", "1 Frage"),
    "questions_many": ("{count} questions", "{count} Fragen"),
    "documents_one": ("1 document", "1 Dokument"),
    "documents_many": ("{count} documents", "{count} Dokumente"),
    "left_out_one": (
        "1 question was left out: its place is not known.",
        "1 Frage blieb außen vor: Ihre Stelle ist nicht bekannt.",
    ),
    "left_out_many": (
        "{count} questions were left out: their place is not known.",
        "{count} Fragen blieben außen vor: Ihre Stelle ist nicht bekannt.",
    ),
    "never_found_one": (
        "1 document that is called right is not in the corpus.",
        "1 als richtig genanntes Dokument steht nicht im Korpus.",
    ),
    "never_found_many": (
        "{count} documents that are called right are not in the corpus.",
        "{count} als richtig genannte Dokumente stehen nicht im Korpus.",
    ),
    "measures_hint": (
        "In percent; below each the interval in which the true value lies with 95 %.",
        "In Prozent; darunter der Bereich, in dem der wahre Wert mit 95 % liegt.",
    ),
    "configuration": ("Way to search", "Suchweg"),
    "reference": ("reference", "Bezug"),
    "without_hits": ("No hits", "Ohne Treffer"),
    "differences": ("Difference to {reference}", "Unterschied zu {reference}"),
    "is_sure": ("told from chance", "kein Zufall"),
    "is_unsure": ("may be chance", "kann Zufall sein"),
    "is_none": ("no difference", "kein Unterschied"),
    "by_language": ("By language", "Nach Sprache"),
    "by_kind": ("By kind of question", "Nach Art der Frage"),
    "questions_title": ("Questions", "Fragen"),
    "group_hint": ("MRR@10 / recall@10, in percent", "MRR@10 / Recall@10, in Prozent"),
    "language_unclear": ("Unclear", "Unklar"),
    "question_identifier": ("With a number or name", "Mit Nummer oder Kennung"),
    "question_phrase": ("With words in quotes", "Mit Wortlaut in Anführungszeichen"),
    "question_keywords": ("Few words", "Wenige Worte"),
    "question_question": ("Whole question", "Ganze Frage"),
    "compare_title": ("Question by question", "Frage für Frage"),
    "compare_first": ("First", "Erster"),
    "compare_second": ("Second", "Zweiter"),
    "compare_same": (
        "Both find every question's place at the same rank.",
        "Beide finden die Stelle jeder Frage auf demselben Rang.",
    ),
    "compare_hint": (
        "Rank of the right place, the largest difference first.",
        "Rang der richtigen Stelle, der größte Unterschied zuerst.",
    ),
    "compare_previous": ("Back", "Zurück"),
    "compare_next": ("Next", "Weiter"),
    "range_of": ("{first} to {last} of {count}", "{first} bis {last} von {count}"),
    "rank_nowhere": ("not found", "nicht gefunden"),
    # signing in
    "sign_in": ("Sign in", "Anmelden"),
    "password": ("Password", "Passwort"),
    "show_password": ("Show", "Zeigen"),
    "wrong_password": ("That password is not right.", "Dieses Passwort stimmt nicht."),
    "sign_in_throttled": (
        "Too many tries just now. Wait a moment, then try again.",
        "Gerade zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann noch einmal.",
    ),
    "sign_in_failed": (
        "Signing in did not work. Please try again.",
        "Das Anmelden hat nicht geklappt. Bitte noch einmal versuchen.",
    ),
    # nothing here
    "not_found": ("There is nothing at this address.", "Unter dieser Adresse ist nichts."),
    "to_start": ("Back to the start", "Zurück zum Anfang"),
}


def explain(error: RagAppError, language: str) -> str:
    """Return what went wrong: in German where its kind says it all, else as it stands."""
    if language != "de":
        return str(error)
    if isinstance(error, NotFoundError):
        return say("gone", language)
    if str(error) == DatabaseUnavailableError.__doc__:
        return say("database_away", language)
    return str(error)


def say(key: str, language: str, **values: object) -> str:
    """Return a text in a language, its {places} filled."""
    text = TEXTS[key][GERMAN if language == "de" else ENGLISH]
    return text.format(**values) if values else text


def choose_language(accept_language: str) -> str:
    """Return "de" where the browser prefers German over English, else "en"."""
    ranked = []
    for position, part in enumerate(accept_language.lower().split(",")):
        name, _, weight = part.strip().partition(";q=")
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            quality = 0.0
        ranked.append((-quality, position, name.split("-")[0]))
    for _, _, name in sorted(ranked):
        if name in LANGUAGES:
            return name
    return LANGUAGES[ENGLISH]
