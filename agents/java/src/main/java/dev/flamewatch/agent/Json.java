package dev.flamewatch.agent;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON of the API's messages: objects are maps, arrays lists, numbers doubles. */
final class Json {
    private static final int DEEPEST = 50;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Parses one value. Throws IllegalArgumentException for everything that is not JSON. */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.space();
        if (json.at != text.length()) {
            throw json.invalid();
        }
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> object) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : object.entrySet()) {
                out.append(separator);
                quote((String) entry.getKey(), out);
                out.append(':');
                write(entry.getValue(), out);
                separator = ",";
            }
            out.append(object.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String separator = "[";
            for (Object item : list) {
                out.append(separator);
                write(item, out);
                separator = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else {
            quote((String) value, out);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                out.append('\\').append(letter);
            } else if (letter < ' ' || Character.isSurrogate(letter)) {
                out.append(String.format("\\u%04x", (int) letter));
            } else {
                out.append(letter);
            }
        }
        out.append('"');
    }

    private Object value(int depth) {
        if (depth > DEEPEST) {
            throw invalid();
        }
        space();
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> found = new LinkedHashMap<>();
        at++;
        space();
        while (peek() != '}') {
            space();
            String name = string();
            space();
            expect(':');
            found.put(name, value(depth + 1));
            next('}');
        }
        at++;
        return found;
    }

    private List<Object> array(int depth) {
        List<Object> found = new ArrayList<>();
        at++;
        space();
        while (peek() != ']') {
            found.add(value(depth + 1));
            next(']');
        }
        at++;
        return found;
    }

    /** Skips the comma before another item; leaves the end of the object or array. */
    private void next(char end) {
        space();
        if (peek() != end) {
            expect(',');
            space();
            if (peek() == end) {
                throw invalid();
            }
        }
    }

    private String string() {
        expect('"');
        StringBuilder found = new StringBuilder();
        while (peek() != '"') {
            char letter = text.charAt(at++);
            found.append(letter == '\\' ? escaped() : letter);
        }
        at++;
        return found.toString();
    }

    private char escaped() {
        char letter = peek();
        at++;
        return switch (letter) {
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            case '"', '\\', '/' -> letter;
            default -> throw invalid();
        };
    }

    private char unicode() {
        if (at + 4 > text.length()) {
            throw invalid();
        }
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw invalid();
        }
        at += word.length();
        return value;
    }

    private Double number() {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return Double.valueOf(text.substring(start, at)); // NumberFormatException is an IllegalArgumentException
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw invalid();
        }
        return text.charAt(at);
    }

    private void expect(char letter) {
        if (peek() != letter) {
            throw invalid();
        }
        at++;
    }

    private IllegalArgumentException invalid() {
        return new IllegalArgumentException("not JSON at character " + at);
    }
}
