/** The protocol: JSON objects ended by NUL, replies in the order of the calls. Pure: bytes in, bytes out. */

/** The most that a message may have, as the daemon has it. */
export const frameBytesMax = 16 * 1024 * 1024;

/** An error that the daemon answers with. */
export class VarlinkError extends Error {
    constructor(name, parameters) {
        super(name);
        this.name = "VarlinkError";
        this.error = name;
        this.parameters = parameters ?? {};
    }
}

/** Something that is no Varlink. */
export class ProtocolError extends Error {}

/** The bytes of a call. */
export function encodeCall(method, parameters, more = false) {
    return new TextEncoder().encode(
        JSON.stringify({ method, parameters, ...more ? { more: true } : {} }) + "\0");
}

/** Takes bytes as they come, and gives whole messages. */
export class FrameReader {
    #parts = [];
    #length = 0;

    /** @returns {object[]} the messages that are complete now. */
    push(bytes) {
        const messages = [];
        let start = 0;
        for (let end; (end = bytes.indexOf(0, start)) >= 0; start = end + 1) {
            this.#add(bytes.subarray(start, end));
            messages.push(this.#take());
        }
        if (start < bytes.length) this.#add(bytes.slice(start));
        return messages;
    }

    #add(bytes) {
        this.#length += bytes.length;
        if (this.#length > frameBytesMax) throw new ProtocolError("a message is too long");
        this.#parts.push(bytes);
    }

    #take() {
        const whole = new Uint8Array(this.#length);
        let offset = 0;
        for (const part of this.#parts) {
            whole.set(part, offset);
            offset += part.length;
        }
        this.#parts = [];
        this.#length = 0;
        let message;
        try {
            message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(whole));
        } catch (error) {
            throw new ProtocolError(`not JSON: ${error.message}`);
        }
        if (message === null || typeof message !== "object" || Array.isArray(message)) {
            throw new ProtocolError("a message is no object");
        }
        return message;
    }
}

/** Which call a reply belongs to. */
export class CallOrder {
    #pending = [];

    get isEmpty() { return this.#pending.length === 0; }

    /**
     * @param {{onReply: function, onEnd: function, onError: function}} call
     *     onReply gets the parameters of each reply; then comes onEnd or onError.
     */
    add(call) { this.#pending.push(call); }

    receive(message) {
        const call = this.#pending[0];
        if (call === undefined) throw new ProtocolError("a reply to no call");
        if (message.error !== undefined) {
            this.#pending.shift();
            call.onError(new VarlinkError(String(message.error), message.parameters));
            return;
        }
        // A stream that ends here is off the list before anybody hears of it.
        if (message.continues !== true) this.#pending.shift();
        call.onReply(message.parameters ?? {});
        if (message.continues !== true) call.onEnd();
    }

    /** The connection is gone: tells all that still wait. */
    fail(error) {
        const pending = this.#pending;
        this.#pending = [];
        for (const call of pending) call.onError(error);
    }
}
