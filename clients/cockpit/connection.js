/** A connection to the daemon, as the person who is logged in, through Cockpit's bridge. */
import { CallOrder, FrameReader, encodeCall } from "./varlink.js";

/** The connection is closed. */
export class ConnectionClosed extends Error {
    /** @param {string | null} problem - Cockpit's word for why; null where the daemon has closed it. */
    constructor(problem) {
        super(problem ?? "closed");
        this.problem = problem;
    }
}

export class Connection {
    #channel;
    #reader = new FrameReader();
    #order = new CallOrder();
    #unsent = [];
    #closed = null;

    /**
     * @param {string} path - the socket.
     * @param {boolean} asAdministrator - with the rights that Cockpit's administrative access gives.
     * @param {function(ConnectionClosed)} onClose - called once, unless `close` was.
     */
    constructor(path, asAdministrator = false, onClose = () => {}) {
        this.#channel = cockpit.channel({
            payload: "stream", unix: path, binary: true,
            ...asAdministrator ? { superuser: "require" } : {},
        });
        this.#channel.addEventListener("message", (event, data) => this.#receive(data));
        this.#channel.addEventListener("close", (event, options) => {
            if (this.#closed === null) onClose(this.#end(options.problem ?? null));
        });
    }

    /** @returns {Promise<object>} the parameters of the reply. */
    call(method, parameters = {}) {
        return new Promise((resolve, reject) => {
            let reply;
            this.#send(method, parameters, false, {
                onReply: parameters => { reply = parameters; },
                onEnd: () => resolve(reply), onError: reject,
            });
        });
    }

    /** @returns {Promise<void>} fulfilled at the end of the stream. */
    stream(method, parameters, onReply) {
        return new Promise((resolve, reject) => {
            this.#send(method, parameters, true, { onReply, onEnd: resolve, onError: reject });
        });
    }

    close() {
        if (this.#closed !== null) return;
        this.#end(null);
        this.#channel.close();
    }

    #send(method, parameters, more, call) {
        if (this.#closed !== null) {
            call.onError(this.#closed);
            return;
        }
        this.#order.add(call);
        this.#unsent.push(encodeCall(method, parameters, more));
        // What is called in one go goes out in one piece, so that the daemon takes it in one turn.
        if (this.#unsent.length === 1) queueMicrotask(() => this.#flush());
    }

    #flush() {
        if (this.#closed !== null) return;
        const length = this.#unsent.reduce((sum, bytes) => sum + bytes.length, 0);
        const whole = new Uint8Array(length);
        let offset = 0;
        for (const bytes of this.#unsent) {
            whole.set(bytes, offset);
            offset += bytes.length;
        }
        this.#unsent = [];
        this.#channel.send(whole);
    }

    #receive(data) {
        if (this.#closed !== null) return;
        try {
            for (const message of this.#reader.push(new Uint8Array(data))) {
                this.#order.receive(message);
            }
        } catch (error) {
            this.#channel.close("protocol-error");
            throw error;
        }
    }

    #end(problem) {
        this.#closed = new ConnectionClosed(problem);
        this.#order.fail(this.#closed);
        return this.#closed;
    }
}
