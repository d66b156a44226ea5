"""The names of languages, for those that documents are told to be in."""

NAMES: dict[str, tuple[str, str]] = {
    "ar": ("Arabic", "Arabisch"),
    "bg": ("Bulgarian", "Bulgarisch"),
    "ca": ("Catalan", "Katalanisch"),
    "cs": ("Czech", "Tschechisch"),
    "da": ("Danish", "Dänisch"),
    "de": ("German", "Deutsch"),
    "el": ("Greek", "Griechisch"),
    "en": ("English", "Englisch"),
    "es": ("Spanish", "Spanisch"),
    "et": ("Estonian", "Estnisch"),
    "fa": ("Persian", "Persisch"),
    "fi": ("Finnish", "Finnisch"),
    "fr": ("French", "Französisch"),
    "he": ("Hebrew", "Hebräisch"),
    "hi": ("Hindi", "Hindi"),
    "hr": ("Croatian", "Kroatisch"),
    "hu": ("Hungarian", "Ungarisch"),
    "id": ("Indonesian", "Indonesisch"),
    "it": ("Italian", "Italienisch"),
    "ja": ("Japanese", "Japanisch"),
    "ko": ("Korean", "Koreanisch"),
    "la": ("Latin", "Latein"),
    "lt": ("Lithuanian", "Litauisch"),
    "lv": ("Latvian", "Lettisch"),
    "nb": ("Norwegian", "Norwegisch"),
    "nl": ("Dutch", "Niederländisch"),
    "no": ("Norwegian", "Norwegisch"),
    "pl": ("Polish", "Polnisch"),
    "pt": ("Portuguese", "Portugiesisch"),
    "ro": ("Romanian", "Rumänisch"),
    "ru": ("Russian", "Russisch"),
    "sk": ("Slovak", "Slowakisch"),
    "sl": ("Slovenian", "Slowenisch"),
    "sr": ("Serbian", "Serbisch"),
    "sv": ("Swedish", "Schwedisch"),
    "tr": ("Turkish", "Türkisch"),
    "uk": ("Ukrainian", "Ukrainisch"),
    "vi": ("Vietnamese", "Vietnamesisch"),
    "zh": ("Chinese", "Chinesisch"),
}


def language_name(code: str, language: str) -> str:
    """Return the name of a language in another; its code where we know no name."""
    names = NAMES.get(code)
    return names[language == "de"] if names else code
